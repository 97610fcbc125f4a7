import { type Ring, boundsOf, closeAroundPole, unwrap } from "@swath/stac/geometry";

import { compactParts } from "./antimeridian.ts";

type Position = readonly number[];
export type { Ring } from "@swath/stac/geometry";

/** A geometry as it is searched: rings on a plane whose longitudes go on past 180 where it crosses the antimeridian. */
export interface Footprint {
  /** West in [-180, 180), east at most 360 more. */
  readonly box: readonly [west: number, south: number, east: number, north: number];
  /** Outer rings, not closed; points and lines are rings without area. Left out where the box says it all. */
  readonly shapes?: readonly Ring[];
  readonly holes?: readonly Ring[];
  readonly heights?: readonly [low: number, high: number];
}

/** Positions of one geometry at most. */
export const MAX_POSITIONS = 100_000;
/** Geometry collections inside each other. */
const MAX_COLLECTIONS = 4;

/** A geometry that is none; `path` leads to the fault, as a JSON pointer inside of the geometry. */
export class GeometryError extends Error {
  override readonly name = "GeometryError";
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Reads a GeoJSON geometry (RFC 7946 §3.1).
 * @throws {GeometryError} naming the member at fault
 */
export function toFootprint(geometry: unknown, maxPositions = MAX_POSITIONS): Footprint {
  const collected: Collected = {
    maxPositions,
    outer: [],
    holes: [],
    positions: 0,
    low: Infinity,
    high: -Infinity,
  };
  collect(geometry, "", collected, 0);
  if (collected.outer.length === 0) {
    throw new GeometryError("/coordinates", "must have at least one position");
  }
  const unwrapped = collected.outer.map((ring) => closeAroundPole(unwrap(ring)));
  const outer = compactParts(unwrapped);
  const bbox = boundsOf(outer);
  const holes = collected.holes.map((ring) => alignWith(unwrap(ring), outer));
  return {
    box: bbox,
    ...((outer.length > 1 || holes.length > 0 || !isBox(outer[0] as Ring, bbox)) && { shapes: outer }),
    ...(holes.length > 0 && { holes }),
    ...(collected.low <= collected.high && { heights: [collected.low, collected.high] }),
  };
}

interface Collected {
  readonly maxPositions: number;
  readonly outer: Ring[];
  readonly holes: Ring[];
  positions: number;
  low: number;
  high: number;
}

function collect(geometry: unknown, path: string, into: Collected, depth: number): void {
  if (typeof geometry !== "object" || geometry === null || Array.isArray(geometry)) {
    throw new GeometryError(path, "must be a GeoJSON geometry");
  }
  const { type, coordinates, geometries } = geometry as Record<string, unknown>;
  const at = `${path}/coordinates`;
  switch (type) {
    case "Point":
      into.outer.push([readPosition(coordinates, at, into)]);
      return;
    case "MultiPoint":
      for (const [index, entry] of readList(coordinates, at, 1).entries()) {
        into.outer.push([readPosition(entry, `${at}/${index}`, into)]);
      }
      return;
    case "LineString":
      into.outer.push(toThereAndBack(readLine(coordinates, at, 2, into)));
      return;
    case "MultiLineString":
      for (const [index, entry] of readList(coordinates, at, 1).entries()) {
        into.outer.push(toThereAndBack(readLine(entry, `${at}/${index}`, 2, into)));
      }
      return;
    case "Polygon":
      collectPolygon(coordinates, at, into);
      return;
    case "MultiPolygon":
      for (const [index, entry] of readList(coordinates, at, 1).entries()) {
        collectPolygon(entry, `${at}/${index}`, into);
      }
      return;
    case "GeometryCollection":
      if (depth >= MAX_COLLECTIONS) {
        throw new GeometryError(
          path,
          `must not have more than ${MAX_COLLECTIONS} geometry collections inside each other`,
        );
      }
      for (const [index, entry] of readList(geometries, `${path}/geometries`, 1).entries()) {
        collect(entry, `${path}/geometries/${index}`, into, depth + 1);
      }
      return;
    default:
      throw new GeometryError(
        `${path}/type`,
        "must be one of Point, MultiPoint, LineString, MultiLineString, Polygon, MultiPolygon, GeometryCollection",
      );
  }
}

function collectPolygon(coordinates: unknown, path: string, into: Collected): void {
  for (const [index, entry] of readList(coordinates, path, 1).entries()) {
    const ring = readLine(entry, `${path}/${index}`, 4, into);
    const [first, last] = [ring[0] as readonly [number, number], ring.at(-1) as readonly [number, number]];
    if (first[0] !== last[0] || first[1] !== last[1]) {
      throw new GeometryError(`${path}/${index}`, "must end where it begins: it is a ring");
    }
    (index === 0 ? into.outer : into.holes).push(ring.slice(0, -1));
  }
}

function readLine(value: unknown, path: string, minimum: number, into: Collected): Ring {
  return readList(value, path, minimum).map((entry, index) => readPosition(entry, `${path}/${index}`, into));
}

function readList(value: unknown, path: string, minimum: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length < minimum) {
    throw new GeometryError(path, `must be a list of at least ${minimum}`);
  }
  return value;
}

function readPosition(value: unknown, path: string, into: Collected): readonly [number, number] {
  into.positions += 1;
  if (into.positions > into.maxPositions) {
    throw new GeometryError("", `must have at most ${into.maxPositions} positions`);
  }
  if (!Array.isArray(value) || value.length < 2 || !value.every((entry) => Number.isFinite(entry))) {
    throw new GeometryError(path, "must be a position: longitude, latitude and, if wanted, height");
  }
  const [lon, lat, height] = value as Position as readonly [number, number, number?];
  if (Math.abs(lat) > 90) {
    throw new GeometryError(`${path}/1`, "must be a latitude from -90 to 90");
  }
  if (Math.abs(lon) > 540) {
    throw new GeometryError(`${path}/0`, "must be a longitude from -180 to 180");
  }
  if (height !== undefined) {
    into.low = Math.min(into.low, height);
    into.high = Math.max(into.high, height);
  }
  return [lon, lat];
}

/** A line as a ring without area. */
function toThereAndBack(line: Ring): Ring {
  return [...line, ...line.slice(1, -1).toReversed()];
}

/** A hole is on the same side of the antimeridian as what it is in. */
function alignWith(hole: Ring, outer: readonly Ring[]): Ring {
  const [lon = 0, lat = 0] = hole[0] ?? [];
  for (const shift of [0, 360, -360]) {
    const isInside = outer.some((ring) => {
      const [west, south, east, north] = boundsOf([ring]);
      return lon + shift >= west && lon + shift <= east && lat >= south && lat <= north;
    });
    if (isInside) {
      return shift === 0 ? hole : hole.map(([x, y]) => [x + shift, y] as const);
    }
  }
  return hole;
}

function isBox(ring: Ring, [west, south, east, north]: Footprint["box"]): boolean {
  if (ring.length === 1) {
    return true;
  }
  const isAxisParallel = ring.every(([x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as readonly [number, number];
    return (x === nextX) !== (y === nextY) && (x === west || x === east) && (y === south || y === north);
  });
  return ring.length === 4 && isAxisParallel;
}
