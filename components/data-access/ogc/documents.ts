import type { Layer } from "../layers/layer.ts";
import { TILE_MATRIX_SETS, type TileMatrixSet, crsUri } from "../tiles/tile-matrix-sets.ts";

const TILES = "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf";
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
    "datetime",
    "crs",
    "tilesets",
    "png",
    "jpeg",
    "tiff",
  ].map((name) => `${MAPS}/${name}`),
];

const MAP = "http://www.opengis.net/def/rel/ogc/1.0/map";
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
      link("service-desc", "/openapi.json", "application/vnd.oai.openapi+json;version=3.1", "OpenAPI"),
      link("service-doc", "/docs", "text/html", "Documentation"),
      link(
        "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes",
        "/tileMatrixSets",
        "application/json",
        "Tile matrix sets",
      ),
      link("wms", "/ows?service=WMS&request=GetCapabilities", "text/xml", "WMS"),
      link("wmts", "/wmts/1.0.0/WMTSCapabilities.xml", "text/xml", "WMTS"),
    ],
  };
}

export function toCollection({ id, title, description, keywords, bbox, interval, styles }: Layer, base: string) {
  const self = `${base}/collections/${encodeURIComponent(id)}`;
  return {
    id,
    title,
    description,
    keywords,
    extent: { spatial: { bbox: [bbox] }, temporal: { interval: [interval] } },
    crs: [
      "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
      "http://www.opengis.net/def/crs/EPSG/0/3857",
      "http://www.opengis.net/def/crs/EPSG/0/4326",
    ],
    styles: styles.map((style) => ({ id: style.id, title: style.title })),
    links: [
      { rel: "self", type: "application/json", href: self },
      { rel: MAP, type: "image/png", href: `${self}/map?f=png` },
      { rel: "[ogc-rel:map]", type: "image/png", href: `${self}/map?f=png` },
      { rel: TILESETS, type: "application/json", href: `${self}/map/tiles` },
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

export function toTileJson(layer: Layer, set: TileMatrixSet, base: string, style: string | undefined) {
  const [west, south, east, north] = layer.bbox;
  return {
    tilejson: "3.0.0",
    name: layer.title,
    description: layer.description,
    version: "1.0.0",
    scheme: "xyz",
    tiles: [
      `${base}/collections/${encodeURIComponent(layer.id)}/tiles/${set.id}/{z}/{x}/{y}.png${style === undefined ? "" : `?style=${encodeURIComponent(style)}`}`,
    ],
    minzoom: 0,
    maxzoom: set.levels - 1,
    bounds: layer.bbox,
    center: [
      (west + east) / 2,
      (south + north) / 2,
      Math.max(0, Math.floor(Math.log2(360 / Math.max(1e-6, east - west)))),
    ],
  };
}
