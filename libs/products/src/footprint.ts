import { ProductError } from "./errors.ts";

export type Position = readonly [longitude: number, latitude: number];

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
/** Share of the world's longitudes beyond which neighbours are on different sides of the antimeridian. */
const HALF_TURN = 180;

/**
 * The footprint of a ring of positions in any direction: counterclockwise, closed, and cut where it crosses the antimeridian
 * (RFC 7946 §3.1.6, §3.1.9).
 * @throws {ProductError} for fewer than three positions, or positions that are none
 */
export function toFootprint(ring: readonly Position[]): Footprint {
  const open = withoutRepetitions(ring);
  if (open.length < 3) {
    throw new ProductError(`The footprint has ${open.length} corners; at least 3 are needed.`);
  }
  for (const [longitude, latitude] of open) {
    if (!(Math.abs(longitude) <= 360 && Math.abs(latitude) <= 90.001)) {
      throw new ProductError(
        `The footprint has the corner ${longitude} ${latitude}, which is no longitude and latitude.`,
      );
    }
  }
  const unwrapped = unwrap(splitAtPole(open));
  const turn = turnOf(unwrapped);
  if (turn !== 0) {
    return toPolarFootprint(turn > 0 ? unwrapped : unwrapped.toReversed());
  }
  const turned = areaOf(unwrapped) < 0 ? unwrapped.toReversed() : unwrapped;
  const longitudes = turned.map(([longitude]) => longitude);
  const latitudes = turned.map(([, latitude]) => latitude);
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  if (west >= -180 && east <= 180) {
    return { geometry: { type: "Polygon", coordinates: [close(turned)] }, bbox: [west, south, east, north].map(round) };
  }
  if (east - west >= 360) {
    return toBox(south, north);
  }
  // One of the two meridians is inside: what is beyond it belongs to the other side.
  const meridian = east > 180 ? 180 : -180;
  const parts = [clip(turned, meridian, "west"), clip(turned, meridian, "east")].filter((part) => part.length >= 3);
  const polygons = parts.map((part) => {
    const middle = part.reduce((sum, [longitude]) => sum + longitude, 0) / part.length;
    const shift = middle > 180 ? -360 : middle < -180 ? 360 : 0;
    return [close(part.map(([longitude, latitude]): Position => [longitude + shift, latitude]))];
  });
  const [only] = polygons;
  return {
    geometry:
      polygons.length === 1 && only !== undefined
        ? { type: "Polygon", coordinates: only }
        : { type: "MultiPolygon", coordinates: polygons },
    bbox: [west < -180 ? west + 360 : west, south, east > 180 ? east - 360 : east, north].map(round),
  };
}

/** All longitudes between two latitudes: what goes around the world. */
function toBox(south: number, north: number): Footprint {
  const ring: readonly Position[] = [
    [-180, south],
    [180, south],
    [180, north],
    [-180, north],
  ];
  return { geometry: { type: "Polygon", coordinates: [close(ring)] }, bbox: [-180, south, 180, north].map(round) };
}

/** Latitude beyond which a position is the pole, whose longitude says nothing. */
const AT_POLE = 89.999_999;

/** A corner at the pole belongs to the longitudes of both its neighbours. */
function splitAtPole(ring: readonly Position[]): readonly Position[] {
  const isPole = (position: Position | undefined): boolean => Math.abs(position?.[1] ?? 0) >= AT_POLE;
  return ring.flatMap((position, index): readonly Position[] => {
    const [before, after] = [ring.at(index - 1) as Position, ring[(index + 1) % ring.length] as Position];
    return isPole(position) && !isPole(before) && !isPole(after)
      ? [
          [before[0], position[1]],
          [after[0], position[1]],
        ]
      : [position];
  });
}

/** How often a ring of longitudes without jumps goes around the axis: 1 eastwards, -1 westwards, 0 when no pole is inside. */
function turnOf(unwrapped: readonly Position[]): number {
  const [first, last] = [unwrapped[0] as Position, unwrapped.at(-1) as Position];
  return Math.round((last[0] - first[0]) / 360 + shortestTurn(last[0], first[0]) / 360);
}

const shortestTurn = (from: number, to: number): number => ((((to - from) % 360) + 540) % 360) - 180;

/** What has the nearer pole inside: bounded by its outline, the antimeridian and the pole. The ring goes eastwards. */
function toPolarFootprint(ring: readonly Position[]): Footprint {
  const latitudes = ring.map(([, latitude]) => latitude);
  const isNorth = latitudes.reduce((sum, latitude) => sum + latitude, 0) > 0;
  const pole = isNorth ? 90 : -90;
  const start = (ring[0] as Position)[0];
  const meridian = 360 * Math.ceil((start - 180) / 360) + 180;
  // Twice around, of which the turn between two passages of the antimeridian is taken.
  const line = [0, 360, 720].flatMap((shift) => ring.map(([x, y]): Position => [x + shift, y]));
  const edge: Position[] = [];
  for (const [index, [x, y]] of line.entries()) {
    const [nextX, nextY] = line[index + 1] ?? [x, y];
    if (x >= meridian && x <= meridian + 360) {
      edge.push([x - meridian - 180, y]);
    }
    const passage = [meridian, meridian + 360].find((each) => (x < each && nextX > each) || (x > each && nextX < each));
    if (passage !== undefined) {
      edge.push([passage - meridian - 180, y + ((passage - x) / (nextX - x)) * (nextY - y)]);
    }
  }
  const outline: readonly Position[] = [...edge, [180, pole], [-180, pole]];
  return {
    geometry: { type: "Polygon", coordinates: [close(withoutRepetitions(isNorth ? outline : outline.toReversed()))] },
    bbox: [-180, isNorth ? Math.min(...latitudes) : -90, 180, isNorth ? 90 : Math.max(...latitudes)].map(round),
  };
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

function withoutRepetitions(ring: readonly Position[]): Position[] {
  const kept = ring.filter(([x, y], index) => {
    const before = ring[index - 1];
    return before === undefined || before[0] !== x || before[1] !== y;
  });
  const [first, last] = [kept[0], kept.at(-1)];
  return kept.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1] ? kept.slice(0, -1) : kept;
}

/** Longitudes without jumps; they may pass 180 or -180. */
function unwrap(ring: readonly Position[]): Position[] {
  let shift = 0;
  let previous: number | undefined;
  return ring.map(([longitude, latitude]) => {
    if (previous !== undefined) {
      shift += longitude - previous > HALF_TURN ? -360 : longitude - previous < -HALF_TURN ? 360 : 0;
    }
    previous = longitude;
    return [longitude + shift, latitude];
  });
}

function areaOf(ring: readonly Position[]): number {
  let sum = 0;
  for (const [index, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as Position;
    sum += x * nextY - nextX * y;
  }
  return sum / 2;
}

/** The part of a ring on one side of a meridian (Sutherland and Hodgman). */
function clip(ring: readonly Position[], meridian: number, side: "west" | "east"): Position[] {
  const isInside = ([longitude]: Position): boolean =>
    side === "west" ? longitude <= meridian : longitude >= meridian;
  const part: Position[] = [];
  for (const [index, position] of ring.entries()) {
    const next = ring[(index + 1) % ring.length] as Position;
    if (isInside(position)) {
      part.push(position);
    }
    if (isInside(position) !== isInside(next)) {
      const share = (meridian - position[0]) / (next[0] - position[0]);
      part.push([meridian, position[1] + share * (next[1] - position[1])]);
    }
  }
  return withoutRepetitions(part);
}

const close = (ring: readonly Position[]): readonly (readonly number[])[] =>
  [...ring, ring[0] as Position].map((position) => position.map(round));

const round = (value: number): number => Number(value.toFixed(DIGITS));
