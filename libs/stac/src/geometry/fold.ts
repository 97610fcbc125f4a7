import { intersection, xor } from "polyclip-ts";

import { type Position, type Ring, areaOf, boundsOf, closeAroundPole, unwrap, withoutRepetitions } from "./ring.ts";

/** Coordinates of a GeoJSON MultiPolygon; rings end where they begin. */
export type Polygons = [number, number][][][];

/** Parts of fewer square degrees, a tenth of a square metre, come of rounding. */
const MIN_AREA = 1e-11;

/**
 * The polygons that a ring means on the globe: cut at the antimeridian (RFC 7946 §3.1.9), with the pole inside where it goes around one, and without
 * crossings. What a ring goes around twice is outside, as everywhere on a plane (even-odd).
 *
 * The ring is followed on a plane on which longitudes go on past 180, cut into strips of 360 degrees, and the strips are laid over each other: edges that lead to
 * a pole and back at the same longitude vanish.
 *
 * @throws what polyclip-ts says, for a few rings that touch themselves many times
 */
export function foldRing(ring: Ring): Polygons {
  const plane = withoutRepetitions(closeAroundPole(unwrap(splitAtPole(ring))));
  const [west, , east] = boundsOf([plane]);
  const [first, last] = [stripOf(west, true), stripOf(east, false)];
  const closed: [number, number][] = [...plane, plane[0] as Position].map(([x, y]) => [x, y]);
  const strips = Array.from({ length: last - first + 1 }, (_, index) => {
    const start = 360 * (first + index) - 180;
    const inside = intersection([closed], [toBox(start, start + 360)]);
    return inside.map((polygon) => polygon.map((part) => part.map(([x, y]): [number, number] => [x - start - 180, y])));
  });
  const [one = [], ...others] = strips;
  return withoutSlivers(others.length === 0 ? one : xor(one, ...others)).map((polygon) => polygon.map(divideLongEdges));
}

/** Longer ones would be read as those of the other way around. */
const MAX_EDGE = 180;

/** Corners between the ends of edges that are longer than half the world; those of all of it, along a pole, are left. */
function divideLongEdges(ring: readonly (readonly [number, number])[]): [number, number][] {
  return ring.flatMap(([x, y], index): [number, number][] => {
    const [nextX, nextY] = ring[index + 1] ?? [x, y];
    const width = Math.abs(nextX - x);
    const parts = width > MAX_EDGE && width < 360 ? 2 : 1;
    return Array.from({ length: parts }, (_, part): [number, number] => [
      x + ((nextX - x) * part) / parts,
      y + ((nextY - y) * part) / parts,
    ]);
  });
}

/** Which strip of 360 degrees a longitude is in; the one before where it is on the edge of two and ends there. */
function stripOf(longitude: number, isStart: boolean): number {
  const strip = (longitude + 180) / 360;
  return isStart ? Math.floor(strip) : Math.ceil(strip) - 1;
}

const toBox = (west: number, east: number): [number, number][] => [
  [west, -90],
  [east, -90],
  [east, 90],
  [west, 90],
  [west, -90],
];

/** Latitude beyond which a position is the pole, whose longitude says nothing. */
const AT_POLE = 89.999_999;

/** A corner at the pole belongs to the longitudes of both its neighbours. */
export function splitAtPole(ring: Ring): Ring {
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

function withoutSlivers(polygons: Polygons): Polygons {
  return polygons
    .map((polygon) => polygon.filter((ring) => Math.abs(areaOf(ring)) > MIN_AREA))
    .filter(([outer]) => outer !== undefined);
}
