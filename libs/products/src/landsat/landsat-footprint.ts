import { createReproject, parseCrs } from "@swath/raster";

import { ProductError } from "../errors.ts";
import type { Position } from "../footprint.ts";
import type { Mtl } from "./mtl.ts";
import type { ProductFiles } from "../product-files.ts";

export interface Grid {
  readonly crs: string;
  readonly size: number;
  readonly lines: number;
  readonly samples: number;
  /** Outer corner of the first pixel. */
  readonly left: number;
  readonly top: number;
}

/** @throws {ProductError} for an MTL without the numbers of the grid */
export function readGrid(mtl: Mtl, path: string): Grid {
  const required = (field: string): number => {
    const value = mtl.number(field);
    if (value === undefined) {
      throw new ProductError(`${path} has no number ${field}; the product is not whole.`);
    }
    return value;
  };
  const size = required("GRID_CELL_SIZE_REFLECTIVE");
  const crs =
    mtl.get("MAP_PROJECTION") === "PS" ? "EPSG:3031" : `EPSG:326${String(required("UTM_ZONE")).padStart(2, "0")}`;
  return {
    crs,
    size,
    lines: required("REFLECTIVE_LINES"),
    samples: required("REFLECTIVE_SAMPLES"),
    // Corners are the centres of pixels.
    left: required("CORNER_UL_PROJECTION_X_PRODUCT") - size / 2,
    top: required("CORNER_UL_PROJECTION_Y_PRODUCT") + size / 2,
  };
}

/**
 * The corners of what the sensor saw; the raster around them is larger, and filled. In this order: from the STAC item that the agency put
 * beside the MTL, from the file of angle coefficients, and from the scene's direction over the ground.
 */
export async function readCorners(files: ProductFiles, mtl: Mtl, grid: Grid): Promise<readonly Position[]> {
  return (
    (await readAgencyCorners(files, mtl)) ?? (await readAngleCorners(files, mtl, grid)) ?? estimateCorners(mtl, grid)
  );
}

const MAX_JSON_BYTES = 2 ** 20;
const MAX_ANG_BYTES = 4 * 2 ** 20;

/** Corners of `…_SR_stac.json`, `…_ST_stac.json` or `…_stac.json`. One that is cut at the antimeridian has more than its corners and is left out. */
async function readAgencyCorners(files: ProductFiles, mtl: Mtl): Promise<readonly Position[] | undefined> {
  const product = mtl.get("LANDSAT_PRODUCT_ID");
  const names = ["_SR_stac.json", "_ST_stac.json", "_stac.json"].map((end) => `${product}${end}`);
  const path = names.find((name) => files.paths.includes(name));
  const text = path === undefined ? undefined : await readText(files, path, MAX_JSON_BYTES);
  const ring = text === undefined ? undefined : findRing(text);
  return ring !== undefined && isConvex(ring) ? ring : undefined;
}

function findRing(text: string): readonly Position[] | undefined {
  try {
    const { geometry } = JSON.parse(text) as { geometry?: { type?: unknown; coordinates?: unknown } };
    const rings = geometry?.type === "Polygon" ? (geometry.coordinates as unknown) : undefined;
    const ring: unknown = Array.isArray(rings) && rings.length === 1 ? rings[0] : undefined;
    const isRing = Array.isArray(ring) && ring.length === 5 && ring.every(isPosition);
    return isRing ? (ring.slice(0, 4) as Position[]) : undefined;
  } catch {
    return undefined;
  }
}

const isPosition = (value: unknown): boolean =>
  Array.isArray(value) && value.length >= 2 && value.slice(0, 2).every((each) => Number.isFinite(each));

/** Whether a ring turns in one direction: the agency's own is a bow tie in some scenes at the antimeridian. */
function isConvex(ring: readonly Position[]): boolean {
  const near = ring.map(([x, y]): Position => [
    x - (ring[0] as Position)[0] > 180 ? x - 360 : x - (ring[0] as Position)[0] < -180 ? x + 360 : x,
    y,
  ]);
  const turns = near.map(([x, y], index) => {
    const [x1, y1] = near[(index + 1) % near.length] as Position;
    const [x2, y2] = near[(index + 2) % near.length] as Position;
    return Math.sign((x1 - x) * (y2 - y1) - (y1 - y) * (x2 - x1));
  });
  return turns.every((turn) => turn === turns[0] && turn !== 0);
}

async function readAngleCorners(files: ProductFiles, mtl: Mtl, grid: Grid): Promise<readonly Position[] | undefined> {
  const path = mtl.get("FILE_NAME_ANGLE_COEFFICIENT") ?? mtl.get("ANGLE_COEFFICIENT_FILE_NAME");
  if (path === undefined || (files.paths.length > 0 && !files.paths.includes(path))) {
    return undefined;
  }
  const text = await readText(files, path, MAX_ANG_BYTES);
  const list = (name: string): readonly number[] =>
    (new RegExp(`BAND01_${name}\\s*=\\s*\\(([^)]*)\\)`).exec(text ?? "")?.[1] ?? "").split(",").map(Number);
  const [lines, samples] = [list("L1T_IMAGE_CORNER_LINES"), list("L1T_IMAGE_CORNER_SAMPS")];
  if (lines.length !== 4 || samples.length !== 4 || ![...lines, ...samples].every(Number.isFinite)) {
    return undefined;
  }
  return toDegrees(
    grid,
    samples.map((sample, index): Position => [
      grid.left + grid.size / 2 + sample * grid.size,
      grid.top - grid.size / 2 - (lines[index] as number) * grid.size,
    ]),
  );
}

/** `undefined` where the file is not there or too large: the corners are found in another way. */
async function readText(files: ProductFiles, path: string, maxBytes: number): Promise<string | undefined> {
  const bytes = await files.read(path).catch(() => undefined);
  return bytes === undefined || bytes.length > maxBytes ? undefined : bytes.toString("utf8");
}

/** A sensor's scene in kilometres, and how much wider and higher than it the raster around it is made. */
interface SceneSize {
  readonly across: number;
  readonly along: number;
  readonly wider: number;
  readonly higher: number;
  /** The platform turns with the ground below it, so that scan lines are at a right angle to the track over ground. */
  readonly isSteered?: boolean;
}

/** Measured in the products of Collection 2 that the agency gave corners of. */
const SCENES: readonly (readonly [sensor: RegExp, size: SceneSize])[] = [
  [/MSS/, { across: 187, along: 185, wider: 1.9, higher: 1.6 }],
  [/ETM/, { across: 192, along: 182, wider: 12, higher: 2.7 }],
  [/TM/, { across: 186, along: 181, wider: 11.4, higher: 3.6 }],
  [/OLI|TIRS/, { across: 188, along: 195, wider: 4.7, higher: 1.5, isSteered: true }],
];
/** Inclination in degrees, and orbits a day, of Landsat 1 to 3 and of 4 and later. */
const ORBITS = { early: { inclination: 99.1, turns: 251 / 18 }, late: { inclination: 98.2, turns: 233 / 16 } };
/** Rows of the night side, of both reference systems: the satellite flies northwards. */
const LAST_DESCENDING_ROW = 122;
/** How much the usual size counts beside that of the raster: near 45 degrees many rectangles touch all four edges. */
const WEIGHT_OF_USUAL = 0.1;
/** Degrees over which directions on the grid are measured. */
const STEP = 0.01;

/** The parallelogram that lies along the orbit and touches the edges of the raster. */
function estimateCorners(mtl: Mtl, grid: Grid): readonly Position[] {
  const spacecraft = mtl.get("SPACECRAFT_ID") ?? "";
  const size = SCENES.find(([sensor]) => sensor.test(mtl.get("SENSOR_ID") ?? ""))?.[1] ?? SCENES[0]![1];
  const [width, height] = [(grid.samples - 1) * grid.size, (grid.lines - 1) * grid.size];
  const [x, y] = [grid.left + (grid.samples * grid.size) / 2, grid.top - (grid.lines * grid.size) / 2];
  const [center] = toDegrees(grid, [[x, y]]);
  const isDescending = (mtl.number("WRS_ROW") ?? 0) <= LAST_DESCENDING_ROW;
  const directions = findDirections(center as Position, /[123]$/.test(spacecraft) ? ORBITS.early : ORBITS.late, {
    isDescending,
    isSteered: size.isSteered === true,
  });
  const [across, along] = directions.map((direction) => toGridDirection(grid, center as Position, direction));
  const [[ux, uy], [vx, vy]] = [across as Position, along as Position];
  // Half of the scene's sides p and q: p|u| + q|v| is half of the raster's side, in x and in y; least squares with the usual sides.
  const [halfWidth, halfHeight] = [width / 2 - size.wider * 500, height / 2 - size.higher * 500];
  const [usualP, usualQ] = [size.across * 500, size.along * 500];
  const pp = ux ** 2 + uy ** 2 + WEIGHT_OF_USUAL;
  const qq = vx ** 2 + vy ** 2 + WEIGHT_OF_USUAL;
  const pq = Math.abs(ux * vx) + Math.abs(uy * vy);
  const rightP = Math.abs(ux) * halfWidth + Math.abs(uy) * halfHeight + WEIGHT_OF_USUAL * usualP;
  const rightQ = Math.abs(vx) * halfWidth + Math.abs(vy) * halfHeight + WEIGHT_OF_USUAL * usualQ;
  const determinant = pp * qq - pq ** 2;
  const p = (rightP * qq - rightQ * pq) / determinant;
  const q = (pp * rightQ - pq * rightP) / determinant;
  return toDegrees(
    grid,
    [
      [1, 1],
      [-1, 1],
      [-1, -1],
      [1, -1],
    ].map(([i = 0, j = 0]): Position => [x + i * p * ux + j * q * vx, y + i * p * uy + j * q * vy]),
  );
}

/** East and north, in proportion. */
type Direction = readonly [east: number, north: number];

/** Across and along the track at a place, of a circular orbit over a turning Earth. */
function findDirections(
  [, latitude]: Position,
  { inclination, turns }: { readonly inclination: number; readonly turns: number },
  { isDescending, isSteered }: { readonly isDescending: boolean; readonly isSteered: boolean },
): readonly [across: Direction, along: Direction] {
  const cos = Math.cos((latitude * Math.PI) / 180);
  const sine = Math.cos((inclination * Math.PI) / 180) / cos;
  const ascending = Math.asin(Math.min(1, Math.max(-1, sine)));
  const azimuth = isDescending ? Math.PI - ascending : ascending;
  const along: Direction = [Math.sin(azimuth) - cos / turns, Math.cos(azimuth)];
  return [isSteered ? [along[1], -along[0]] : [Math.cos(azimuth), -Math.sin(azimuth)], along];
}

function toGridDirection(grid: Grid, [longitude, latitude]: Position, [east, north]: Direction): Position {
  const perLongitude = Math.max(Math.cos((latitude * Math.PI) / 180), 1e-6);
  const length = Math.hypot(east, north);
  const ends = [-1, 1].map((sign): Position => [
    longitude + (sign * STEP * east) / length / perLongitude,
    latitude + (sign * STEP * north) / length,
  ]);
  const [xs, ys] = [Float64Array.from(ends, ([x]) => x), Float64Array.from(ends, ([, y]) => y)];
  createReproject(parseCrs("OGC:CRS84"), parseCrs(grid.crs))(xs, ys);
  const [dx, dy] = [xs[1]! - xs[0]!, ys[1]! - ys[0]!];
  const onGrid = Math.hypot(dx, dy);
  return [dx / onGrid, dy / onGrid];
}

function toDegrees({ crs }: Grid, positions: readonly Position[]): readonly Position[] {
  const [xs, ys] = [Float64Array.from(positions, ([x]) => x), Float64Array.from(positions, ([, y]) => y)];
  createReproject(parseCrs(crs), parseCrs("OGC:CRS84"))(xs, ys);
  return Array.from(xs, (x, index): Position => [x, ys[index] ?? Number.NaN]);
}
