import { openApiType } from "@swath/service/send-openapi";

import type { Layer } from "../layers/layer.ts";
import { placesOf } from "../layers/position.ts";
import { TILE_MATRIX_SETS, type TileMatrixSet, crsUri } from "../tiles/tile-matrix-sets.ts";

const TILES = "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf";
const COVERAGES = "http://www.opengis.net/spec/ogcapi-coverages-1/1.0/conf";
const EDR = "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf";
const EDR_10 = "http://www.opengis.net/spec/ogcapi-edr-1/1.0/conf";
const MAPS = "https://www.opengis.net/spec/ogcapi-maps-1/1.0/conf";

export const CONFORMANCE: readonly string[] = [
  "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
  ...["core", "tileset", "tilesets-list", "geodata-tilesets", "datetime", "oas30", "png", "jpeg"].map(
    (name) => `${TILES}/${name}`,
  ),
  ...[
    "core",
    "collection-map",
    "styled-map",
    "background",
    "scaling",
    "spatial-subsetting",
    "general-subsetting",
    "datetime",
    "crs",
    "tilesets",
    "png",
    "jpeg",
    "tiff",
  ].map((name) => `${MAPS}/${name}`),
  ...[
    "core",
    "subsetting-spatial",
    "subsetting-temporal",
    "scaling-spatial",
    "field-selection",
    "crs",
    "geotiff",
    "cog",
    "coveragejson",
  ].map((name) => `${COVERAGES}/${name}`),
  ...["core", "collections", "queries", "covjson"].map((name) => `${EDR}/${name}`),
  ...["core", "collections", "covjson", "oas30"].map((name) => `${EDR_10}/${name}`),
];

const MAP = "http://www.opengis.net/def/rel/ogc/1.0/map";
const COVERAGE = "http://www.opengis.net/def/rel/ogc/1.0/coverage";
const TILESETS = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map";
const SCHEME = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme";

export function toLandingPage(title: string, base: string) {
  const link = (rel: string, path: string, type: string, name: string) => ({
    rel,
    type,
    title: name,
    href: `${base}${path}`,
  });
  return {
    title,
    description: "The pixels behind the catalogue as tiles, maps and files.",
    links: [
      link("self", "/", "application/json", "This document"),
      link("conformance", "/conformance", "application/json", "What is conformed to"),
      link("data", "/collections", "application/json", "Layers"),
      link("service-desc", "/openapi.json", openApiType("3.0"), "OpenAPI"),
      link("service-doc", "/docs", "text/html", "Documentation"),
      link(
        "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes",
        "/tileMatrixSets",
        "application/json",
        "Tile matrix sets",
      ),
      link("wms", "/ows?service=WMS&request=GetCapabilities", "text/xml", "WMS"),
      link("wcs", "/ows?service=WCS&request=GetCapabilities", "text/xml", "WCS"),
      link("wmts", "/wmts/1.0.0/WMTSCapabilities.xml", "text/xml", "WMTS"),
    ],
  };
}

/** Dimensions beside space and time, as OGC API Common part 2 has them. */
const dimensionExtents = (layer: Layer) =>
  Object.fromEntries(
    placesOf(layer).map(({ name, values, preset, unit }) => {
      const all = values.length === 0 ? [preset] : values;
      const coordinates = all.every((value) => Number.isFinite(Number(value))) ? all.map(Number) : all;
      return [
        name,
        {
          interval: [[coordinates[0], coordinates.at(-1)]],
          ...(unit !== undefined && { unit }),
          grid: { cellsCount: coordinates.length, coordinates },
        },
      ];
    }),
  );

const QUERIES = ["position", "area", "radius", "cube", "trajectory", "corridor", "items", "locations"] as const;
const DISTANCE_UNITS = ["m", "km", "mi", "nmi"];

/** @param parameters what EDR says of the values, where the files were looked into */
export function toCollection(layer: Layer, base: string, parameters?: object) {
  const { id, title, description, keywords, bbox, interval, styles, kind } = layer;
  const self = `${base}/collections/${encodeURIComponent(id)}`;
  return {
    id,
    title,
    description,
    keywords,
    extent: { spatial: { bbox: [bbox] }, temporal: { interval: [interval] }, ...dimensionExtents(layer) },
    crs: [
      "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
      "http://www.opengis.net/def/crs/EPSG/0/3857",
      "http://www.opengis.net/def/crs/EPSG/0/4326",
    ],
    styles: styles.map((style) => ({ id: style.id, title: style.title })),
    data_queries: Object.fromEntries(
      QUERIES.map((name) => [
        name,
        {
          link: {
            rel: "data",
            href: `${self}/${name}`,
            variables: {
              query_type: name,
              output_formats: name === "items" ? ["GeoJSON"] : ["CoverageJSON"],
              crs_details: [{ crs: "CRS84" }],
              ...(name === "radius" && { within_units: DISTANCE_UNITS }),
              ...(name === "corridor" && { width_units: DISTANCE_UNITS, height_units: DISTANCE_UNITS }),
            },
          },
        },
      ]),
    ),
    ...(parameters !== undefined && { parameter_names: parameters }),
    output_formats: ["CoverageJSON", "GeoTIFF", "CSV"],
    links: [
      { rel: "self", type: "application/json", href: self },
      { rel: "data", type: "application/geo+json", href: `${self}/items` },
      // Without a query: clients add theirs.
      { rel: MAP, type: "image/png", href: `${self}/map.png` },
      { rel: MAP, type: "image/jpeg", href: `${self}/map.jpg` },
      { rel: "[ogc-rel:map]", type: "image/png", href: `${self}/map.png` },
      { rel: TILESETS, type: "application/json", href: `${self}/map/tiles` },
      { rel: COVERAGE, type: "image/tiff; application=geotiff", href: `${self}/coverage?f=tiff` },
      // GDAL takes the numbers of a domain set for degrees, which those of mosaics are; without one it asks by boxes in degrees.
      ...(kind === "item"
        ? []
        : [{ rel: `${COVERAGE}-domainset`, type: "application/json", href: `${self}/coverage/domainset` }]),
      { rel: `${COVERAGE}-rangetype`, type: "application/json", href: `${self}/coverage/rangetype` },
      { rel: COVERAGE, type: "application/prs.coverage+json", href: `${self}/coverage?f=covjson` },
      { rel: "http://www.opengis.net/def/rel/ogc/1.0/schema", type: "application/schema+json", href: `${self}/schema` },
      { rel: "tilejson", type: "application/json", href: `${self}/WebMercatorQuad/tilejson.json` },
    ],
  };
}

export function toTilesets(layer: Layer, base: string) {
  return { tilesets: TILE_MATRIX_SETS.map((set) => toTilesetSummary(layer, set, base)) };
}

export function toTileset(layer: Layer, set: TileMatrixSet, base: string) {
  const { links, ...summary } = toTilesetSummary(layer, set, base);
  const [west, south, east, north] = layer.bbox;
  return {
    ...summary,
    boundingBox: {
      lowerLeft: [west, south],
      upperRight: [east, north],
      crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
    },
    links: [
      ...links,
      ...["png", "jpeg"].map((format) => ({
        rel: "item",
        type: `image/${format}`,
        href: `${base}/collections/${encodeURIComponent(layer.id)}/map/tiles/${set.id}/{tileMatrix}/{tileRow}/{tileCol}?f=${format}`,
        templated: true,
      })),
    ],
  };
}

function toTilesetSummary(layer: Layer, set: TileMatrixSet, base: string) {
  return {
    title: `${layer.title} (${set.title})`,
    dataType: "map",
    crs: crsUri(set.crs),
    tileMatrixSetURI: set.uri,
    links: [
      {
        rel: "self",
        type: "application/json",
        href: `${base}/collections/${encodeURIComponent(layer.id)}/map/tiles/${set.id}`,
      },
      { rel: SCHEME, type: "application/json", href: `${base}/tileMatrixSets/${set.id}` },
    ],
  };
}
