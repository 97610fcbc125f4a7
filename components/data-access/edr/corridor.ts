import { type Clip, type Crs, createReproject, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";

import type { Point } from "./along-line.ts";

const MAX_CORNERS = 50;
/** Straight parts of the line: what is straight in one system bends in another. */
const PARTS = 60;
/** Points of the half circle around each end of a part. */
const CAP = 8;
/** From the middle of the line's box; distances are wrong by up to 0.5 % there. */
const MAX_METRES = 1_000_000;

/**
 * All that is within half of a width of a line on the ellipsoid, round at its ends and corners.
 * @throws {Problem} 400 for lines that are too long, have too many corners, or are not on Earth
 */
export function toCorridor(line: readonly Point[], crs: Crs, metres: number): Clip {
  if (line.length > MAX_CORNERS) {
    throw new Problem(400, `The line of a corridor may have up to ${MAX_CORNERS} points.`);
  }
  const steps = Math.ceil(PARTS / (line.length - 1));
  const points = line.flatMap((point, at) => {
    const next = line[at + 1];
    return next === undefined
      ? [point]
      : Array.from({ length: steps }, (_, step): Point => {
          const share = step / steps;
          return [point[0] + (next[0] - point[0]) * share, point[1] + (next[1] - point[1]) * share];
        });
  });
  const [longitudes, latitudes] = reproject(points, crs, parseCrs("OGC:CRS84"));
  const middle = (values: readonly number[]) => (Math.min(...values) + Math.max(...values)) / 2;
  const [longitude, latitude] = [middle(longitudes), middle(latitudes)];
  if (!Number.isFinite(longitude) || !(Math.abs(latitude) <= 90)) {
    throw new Problem(400, "The line of coords is not on Earth.");
  }
  const local = parseCrs(`+proj=aeqd +lat_0=${latitude} +lon_0=${longitude} +datum=WGS84`);
  const [xs, ys] = reproject(points, crs, local);
  if (xs.some((x, at) => !(Math.hypot(x, ys[at]!) <= MAX_METRES))) {
    throw new Problem(400, `A corridor may reach ${MAX_METRES / 1000} km from the middle of its line.`);
  }
  const rings = xs.slice(1).map((x, at) => toCapsule([xs[at]!, ys[at]!], [x, ys[at + 1]!], metres / 2));
  return { crs: local, rings, isUnion: true };
}

function reproject(points: readonly Point[], from: Crs, to: Crs): readonly [xs: number[], ys: number[]] {
  const [xs, ys] = [Float64Array.from(points, ([x]) => x), Float64Array.from(points, ([, y]) => y)];
  createReproject(from, to)(xs, ys);
  return [[...xs], [...ys]];
}

/** What is within a distance of a straight part of a line. */
function toCapsule([x1, y1]: Point, [x2, y2]: Point, radius: number): readonly Point[] {
  const direction = Math.atan2(y2 - y1, x2 - x1);
  // A polygon around a circle has its area at this radius.
  const wide = radius * Math.sqrt(Math.PI / CAP / Math.sin(Math.PI / CAP));
  const cap = (x: number, y: number, start: number) =>
    Array.from({ length: CAP + 1 }, (_, at): Point => {
      const angle = start + (Math.PI * at) / CAP;
      const reach = at === 0 || at === CAP ? radius : wide;
      return [x + reach * Math.cos(angle), y + reach * Math.sin(angle)];
    });
  return [...cap(x2, y2, direction - Math.PI / 2), ...cap(x1, y1, direction + Math.PI / 2)];
}
