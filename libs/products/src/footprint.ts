import {
  type Position,
  type Ring,
  areaOf,
  boundsOf,
  closeAroundPole,
  findSelfIntersection,
  unwrap,
  withoutRepetitions,
} from "@swath/stac/geometry";
import { type Polygons, foldRing } from "@swath/stac/repair-geometry";

import { ProductError } from "./errors.ts";

export type { Position } from "@swath/stac/geometry";

export interface Footprint {
  readonly geometry: {
    readonly type: "Polygon" | "MultiPolygon";
    readonly coordinates: unknown;
  };
  /** West, south, east, north; west is greater than east across the antimeridian (RFC 7946 §5.2). */
  readonly bbox: readonly number[];
}

/** Decimal places that are kept: a tenth of a metre. */
const DIGITS = 6;
/** Positions of one outline; those of whole orbits have hundreds. */
const MAX_POSITIONS = 5000;

/**
 * The footprint of a ring of positions in any direction: counterclockwise, closed, without crossings, cut where it crosses the antimeridian and led over
 * the pole that it goes around (RFC 7946 §3.1.6, §3.1.9).
 * @throws {ProductError} for fewer than three positions or more than 5,000, positions that are none, and rings without area
 */
export function toFootprint(ring: readonly Position[]): Footprint {
  const open = withoutRepetitions(ring);
  if (open.length < 3 || open.length > MAX_POSITIONS) {
    throw new ProductError(`The footprint has ${open.length} corners; 3 to ${MAX_POSITIONS} are possible.`);
  }
  for (const [longitude, latitude] of open) {
    if (!(Math.abs(longitude) <= 360 && Math.abs(latitude) <= 90.001)) {
      throw new ProductError(
        `The footprint has the corner ${longitude} ${latitude}, which is no longitude and latitude.`,
      );
    }
  }
  const bounded = open.map(([x, y]): Position => [x, Math.min(90, Math.max(-90, y))]);
  const plane = unwrap(bounded);
  const [west, south, east, north] = boundsOf([plane]);
  const isPlain = west >= -180 && east <= 180 && Math.max(north, -south) < 90 && closeAroundPole(plane) === plane;
  if (isPlain && findSelfIntersection(plane) === undefined) {
    const turned = areaOf(plane) < 0 ? plane.toReversed() : plane;
    return { geometry: { type: "Polygon", coordinates: [close(turned)] }, bbox: [west, south, east, north].map(round) };
  }
  const polygons = cut(bounded).map((polygon) => polygon.map((part) => part.map(([x, y]) => [round(x), round(y)])));
  const [only] = polygons;
  if (only === undefined) {
    throw new ProductError("The footprint encloses nothing.");
  }
  return {
    geometry:
      polygons.length === 1 ? { type: "Polygon", coordinates: only } : { type: "MultiPolygon", coordinates: polygons },
    bbox: boxOf(polygons as Polygons).map(round),
  };
}

function cut(ring: Ring): Polygons {
  try {
    return foldRing(ring);
  } catch (cause) {
    throw new ProductError("The footprint touches itself so often that its outline cannot be found.", { cause });
  }
}

/** The box around polygons that are cut at the antimeridian: across it where they lie on both of its sides. */
function boxOf(polygons: Polygons): readonly [number, number, number, number] {
  const rings = polygons.map(([outer = []]): Ring => outer);
  const [west, south, east, north] = boundsOf(rings);
  if (west > -180 || east < 180) {
    return [west, south, east, north];
  }
  // The widest gap between them is what the box leaves out.
  const spans = rings.map((ring) => boundsOf([ring])).sort(([a], [b]) => a - b);
  let [covered, widest, gap] = [-180, 0, [180, -180] as readonly [number, number]];
  for (const [from, , to] of spans) {
    if (from - covered > widest) {
      [widest, gap] = [from - covered, [covered, from]];
    }
    covered = Math.max(covered, to);
  }
  return widest === 0 ? [-180, south, 180, north] : [gap[1], south, gap[0], north];
}

/** The centre of gravity of a ring. */
export function centroidOf(ring: readonly Position[]): { lon: number; lat: number } {
  const open = unwrap(withoutRepetitions(ring));
  const area = areaOf(open);
  let [x, y] = [0, 0];
  for (const [index, [x0, y0]] of open.entries()) {
    const [x1, y1] = open[(index + 1) % open.length] as Position;
    const cross = x0 * y1 - x1 * y0;
    x += (x0 + x1) * cross;
    y += (y0 + y1) * cross;
  }
  const longitude = x / (6 * area);
  return {
    lon: round(longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude),
    lat: round(y / (6 * area)),
  };
}

/** The middle of a box, also across the antimeridian. */
export function centerOf([west = 0, south = 0, east = 0, north = 0]: readonly number[]): { lon: number; lat: number } {
  const middle = west > east ? (west + east + 360) / 2 : (west + east) / 2;
  return { lon: round(middle > 180 ? middle - 360 : middle), lat: round((south + north) / 2) };
}

const close = (ring: Ring): readonly (readonly number[])[] =>
  [...ring, ring[0] as Position].map((position) => position.map(round));

const round = (value: number): number => Number(value.toFixed(DIGITS));
