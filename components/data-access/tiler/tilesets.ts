import { type Bbox, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { baseUrlOf } from "../http/context.ts";
import {
  TILE_MATRIX_SETS,
  type TileMatrixSet,
  crsUri,
  findTileMatrixSet,
  tileLimits,
} from "../tiles/tile-matrix-sets.ts";
import { type Query, listOf, one } from "./parameters.ts";
import { parseZoom } from "./request-grid.ts";

const DEGREES = parseCrs("OGC:CRS84");
const TILING_SCHEME = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme";

/** What the tiles of a file, an item or a mosaic are about. */
export interface Tiled {
  /** Degrees. */
  readonly bounds: Bbox;
  readonly zooms: { readonly minzoom: number; readonly maxzoom: number };
  readonly title?: string;
  readonly bandDescriptions?: readonly (readonly [name: string, description: string])[];
  readonly dataType?: string;
  /** Ending of addresses of tiles where the request names none. */
  readonly format?: string;
}

/** @throws {Problem} 404 */
export function requireTileMatrixSet(id: string): TileMatrixSet {
  const set = findTileMatrixSet(id);
  if (set === undefined) {
    throw new Problem(
      404,
      `There is no tile matrix set "${id.slice(0, 50)}"; there are ${TILE_MATRIX_SETS.map((each) => each.id).join(", ")}.`,
    );
  }
  return set;
}

/** TileJSON 3.0.0, with the zooms and the extension of tiles that the request names. @throws {Problem} 400 */
export function toTileJson(request: FastifyRequest, set: TileMatrixSet, { bounds, zooms, ...tiled }: Tiled) {
  const query = request.query as Query;
  const format = one(query["tile_format"]) ?? tiled.format;
  const [west, south, east, north] = bounds;
  const [minzoom, maxzoom] = [
    parseZoom(query, "minzoom") ?? zooms.minzoom,
    parseZoom(query, "maxzoom") ?? zooms.maxzoom,
  ];
  return {
    tilejson: "3.0.0",
    ...(tiled.title !== undefined && { name: tiled.title }),
    version: "1.0.0",
    scheme: "xyz",
    tiles: [toTileAddress(request, set, format)],
    minzoom,
    maxzoom,
    bounds,
    center: [
      (west + east) / 2,
      (south + north) / 2,
      tiled.title === undefined ? minzoom : Math.max(minzoom, Math.floor(Math.log2(360 / Math.max(1e-6, east - west)))),
    ],
    ...(tiled.bandDescriptions !== undefined && { band_descriptions: tiled.bandDescriptions }),
    ...(tiled.dataType !== undefined && { data_type: tiled.dataType }),
  };
}

/** The tile sets of a target (OGC API Tiles, tile set list). */
export function toTileSetList(request: FastifyRequest, { bounds }: Pick<Tiled, "bounds">) {
  return { tilesets: TILE_MATRIX_SETS.map((set) => toTileSet(request, set, bounds)) };
}

/** The tiles of a target in one tile matrix set (OGC 17-083r4 tile set metadata), with the limits of each level. @throws {Problem} 400 */
export function toLimitedTileSet(request: FastifyRequest, set: TileMatrixSet, { bounds, zooms }: Tiled) {
  const query = request.query as Query;
  const first = parseZoom(query, "minzoom") ?? zooms.minzoom;
  const last = parseZoom(query, "maxzoom") ?? zooms.maxzoom;
  return { ...toTileSet(request, set, bounds), tileMatrixSetLimits: tileLimits(set, bounds, first, last) };
}

function toTileSet(request: FastifyRequest, set: TileMatrixSet, [west, south, east, north]: Bbox) {
  return {
    title: set.title,
    dataType: "map",
    crs: crsUri(set.crs),
    accessConstraints: "unclassified",
    boundingBox: { lowerLeft: [west, south], upperRight: [east, north], crs: crsUri(DEGREES) },
    links: [
      {
        rel: "self",
        type: "application/json",
        href: `${baseUrlOf(request)}${prefixOf(request)}/tiles/${set.id}${searchOf(request)}`,
        title: set.title,
      },
      { rel: "tile", href: toTileAddress(request, set, undefined), templated: true, title: "Tiles" },
      {
        rel: TILING_SCHEME,
        type: "application/json",
        href: `${baseUrlOf(request)}/tileMatrixSets/${set.id}`,
        title: set.title,
      },
    ],
  };
}

const toTileAddress = (request: FastifyRequest, set: TileMatrixSet, format: string | undefined) =>
  `${baseUrlOf(request)}${prefixOf(request)}/tiles/${set.id}/{z}/{x}/{y}${format === undefined ? "" : `.${format}`}${searchOf(request)}`;

/** The path of the target that the request is about. */
const prefixOf = ({ url }: FastifyRequest) =>
  (url.split("?", 1)[0] ?? "").replace(/\/(?:(?:tiles\/)?[^/]+\/tilejson\.json|tiles(?:\/[^/]+)?)$/, "");

function searchOf(request: FastifyRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query as Query)) {
    for (const each of ["tile_format", "minzoom", "maxzoom"].includes(name) ? [] : listOf(value)) {
      search.append(name, each);
    }
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}
