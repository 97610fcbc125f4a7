import { type Bbox, type Crs, type Grid, parseCrs, reprojectBbox } from "@swath/raster";

/** A set of the OGC registry whose matrices halve their cells from level to level. */
export interface TileMatrixSet {
  readonly id: string;
  readonly title: string;
  readonly uri: string;
  readonly crs: Crs;
  readonly wellKnownScaleSet?: string;
  /** Upper left corner, x before y. */
  readonly origin: readonly [number, number];
  readonly cellSize: number;
  readonly columns: number;
  readonly rows: number;
  readonly levels: number;
}

const TILE = 256;
/** Metres a pixel of the standard (0.28 mm). */
const STANDARD_PIXEL = 0.000_28;
const METRES_PER_DEGREE = (Math.PI * 6_378_137) / 180;
const REGISTRY = "http://www.opengis.net/def/tilematrixset/OGC/1.0";

const SETS: readonly TileMatrixSet[] = [
  {
    id: "WebMercatorQuad",
    title: "Google Maps Compatible for the World",
    uri: `${REGISTRY}/WebMercatorQuad`,
    crs: parseCrs("EPSG:3857"),
    wellKnownScaleSet: "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
    origin: [-20_037_508.342_789_2, 20_037_508.342_789_2],
    cellSize: 156_543.033_928_041,
    columns: 1,
    rows: 1,
    levels: 25,
  },
  {
    id: "WorldCRS84Quad",
    title: "CRS84 for the World",
    uri: `${REGISTRY}/WorldCRS84Quad`,
    crs: parseCrs("OGC:CRS84"),
    wellKnownScaleSet: "http://www.opengis.net/def/wkss/OGC/1.0/GoogleCRS84Quad",
    origin: [-180, 90],
    cellSize: 0.703_125,
    columns: 2,
    rows: 1,
    levels: 24,
  },
  {
    id: "EuropeanETRS89_LAEAQuad",
    title: "Lambert Azimuthal Equal Area ETRS89 for Europe",
    uri: `${REGISTRY}/EuropeanETRS89_LAEAQuad`,
    crs: parseCrs("EPSG:3035"),
    origin: [2_000_000, 5_500_000],
    cellSize: 17_578.125,
    columns: 1,
    rows: 1,
    levels: 16,
  },
];

export const TILE_MATRIX_SETS: readonly TileMatrixSet[] = SETS;

export function findTileMatrixSet(id: string): TileMatrixSet | undefined {
  return SETS.find((set) => set.id === id);
}

export interface TileAddress {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/**
 * Tiles of some levels that touch a box in degrees, level by level.
 * @throws {Error} when there are more than `most`
 */
export function listTiles(
  set: TileMatrixSet,
  [west, south, east, north]: Bbox,
  first: number,
  last: number,
  most: number,
): readonly TileAddress[] {
  const tiles: TileAddress[] = [];
  for (const { level, columns, rows } of levelLimits(set, [west, south, east, north], first, last)) {
    if (tiles.length + (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1) > most) {
      throw new Error(`levels ${first} to ${last} have more than ${most} tiles; choose lower ones`);
    }
    for (let row = rows[0]; row <= rows[1]; row += 1) {
      for (let column = columns[0]; column <= columns[1]; column += 1) {
        tiles.push({ level, column, row });
      }
    }
  }
  return tiles;
}

interface LevelLimits {
  readonly level: number;
  readonly columns: readonly [first: number, last: number];
  readonly rows: readonly [first: number, last: number];
}

/** Columns and rows of some levels that touch a box in degrees; none where the set's system cannot show it. */
function levelLimits(
  { crs, origin, cellSize, columns, rows, levels }: TileMatrixSet,
  [west, south, east, north]: Bbox,
  first: number,
  last: number,
): readonly LevelLimits[] {
  // Web Mercator ends before the poles; a box over the antimeridian is taken as the whole width.
  const limit = crs.id === "EPSG:3857" ? 85.06 : 90;
  const [left, right] = west <= east ? [west, east] : [-180, 180];
  const bounds = reprojectBbox(
    [left, Math.max(-limit, south), right, Math.min(limit, north)],
    parseCrs("OGC:CRS84"),
    crs,
  );
  const limits: LevelLimits[] = [];
  for (let level = first; bounds !== undefined && level <= Math.min(last, levels - 1); level += 1) {
    const span = (cellSize * TILE) / 2 ** level;
    const clamp = (value: number, count: number) => Math.max(0, Math.min(count * 2 ** level - 1, Math.floor(value)));
    const toColumn = (x: number) => clamp((x - origin[0]) / span, columns);
    const toRow = (y: number) => clamp((origin[1] - y) / span, rows);
    limits.push({
      level,
      columns: [toColumn(bounds[0]), toColumn(bounds[2])],
      rows: [toRow(bounds[3]), toRow(bounds[1])],
    });
  }
  return limits;
}

/** `tileMatrixSetLimits` of a box in degrees, of levels `first` to `last` (OGC 17-083r4). */
export const tileLimits = (set: TileMatrixSet, bounds: Bbox, first: number, last: number) =>
  levelLimits(set, bounds, first, last).map(({ level, columns, rows }) => ({
    tileMatrix: String(level),
    minTileRow: rows[0],
    maxTileRow: rows[1],
    minTileCol: columns[0],
    maxTileCol: columns[1],
  }));

/** The pixels of a tile; `undefined` for tiles that the set does not have. */
export function tileToGrid(
  { crs, origin, cellSize, columns, rows, levels }: TileMatrixSet,
  level: number,
  column: number,
  row: number,
  size = TILE,
): Grid | undefined {
  const factor = 2 ** level;
  const isCount = [level, column, row].every((value) => Number.isInteger(value) && value >= 0);
  if (!isCount || level >= levels || column >= columns * factor || row >= rows * factor) {
    return undefined;
  }
  const span = (cellSize * TILE) / factor;
  const bbox: Bbox = [
    origin[0] + column * span,
    origin[1] - (row + 1) * span,
    origin[0] + (column + 1) * span,
    origin[1] - row * span,
  ];
  return { crs, bbox, width: size, height: size };
}

export function scaleDenominatorOf({ crs, cellSize }: TileMatrixSet, level: number): number {
  return ((cellSize / 2 ** level) * (crs.isGeographic ? METRES_PER_DEGREE : 1)) / STANDARD_PIXEL;
}

/** The document of the registry (OGC 17-083r4, JSON encoding). */
export function toTileMatrixSetDocument(set: TileMatrixSet) {
  const corner = set.crs.isNorthFirst ? [set.origin[1], set.origin[0]] : set.origin;
  return {
    id: set.id,
    title: set.title,
    uri: set.uri,
    crs: crsUri(set.crs),
    orderedAxes: set.crs.isNorthFirst ? ["Y", "X"] : set.crs.isGeographic ? ["Lon", "Lat"] : ["X", "Y"],
    ...(set.wellKnownScaleSet !== undefined && { wellKnownScaleSet: set.wellKnownScaleSet }),
    tileMatrices: Array.from({ length: set.levels }, (_, level) => ({
      id: String(level),
      scaleDenominator: scaleDenominatorOf(set, level),
      cellSize: set.cellSize / 2 ** level,
      cornerOfOrigin: "topLeft",
      pointOfOrigin: corner,
      tileWidth: TILE,
      tileHeight: TILE,
      matrixWidth: set.columns * 2 ** level,
      matrixHeight: set.rows * 2 ** level,
    })),
  };
}

export function crsUri({ id }: Crs): string {
  const [, authority, code] = /^(EPSG|ESRI):(\d+)$/.exec(id) ?? [];
  return id === "OGC:CRS84"
    ? "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
    : authority === undefined
      ? id
      : `http://www.opengis.net/def/crs/${authority}/0/${code}`;
}
