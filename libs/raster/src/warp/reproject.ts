import { LRUCache } from "lru-cache";
import proj4 from "proj4";

import { type Crs, parseCrs } from "./crs.ts";
import type { Bbox } from "./grid.ts";
import { checkPlaced } from "./local-crs.ts";

/** Points of an edge that are transformed to find a box: edges bend. */
const EDGE_POINTS = 21;

/** Half of the circumference of Web Mercator's Earth in metres, and what numbers in a request are cut off by. */
const MERCATOR_EDGE = 20_037_508.35;

/** In place; points that cannot be transformed become NaN. */
export type Reproject = (xs: Float64Array, ys: Float64Array) => void;

const MAX_CACHED = 256;
const cache = new LRUCache<string, Reproject>({ max: MAX_CACHED });

/** @throws {RasterError} `unsupported` where the coordinates of a raster without georeference would have to be put into another system */
export function createReproject(from: Crs, to: Crs): Reproject {
  checkPlaced(from, to);
  const key = `${from.proj4}|${to.proj4}`;
  let reproject = cache.get(key);
  if (reproject === undefined) {
    reproject = isSame(from, to) ? () => {} : toReproject(from, to);
    cache.set(key, reproject);
  }
  return reproject;
}

export function isSame(a: Crs, b: Crs): boolean {
  return a.id === b.id || (a.isGeographic && b.isGeographic && isWgs84(a) && isWgs84(b));
}

const isWgs84 = (crs: Crs) => crs.id === "EPSG:4326" || crs.id === "OGC:CRS84";

function toReproject(from: Crs, to: Crs): Reproject {
  // Without a shift to WGS 84, degrees are taken as they are: proj4js would then leave out the other system's shift as well.
  if (hasShift(from) !== hasShift(to)) {
    const degrees = parseCrs("OGC:CRS84");
    const [first, second] = [convert(from, degrees), convert(degrees, to)];
    return (xs, ys) => {
      first(xs, ys);
      second(xs, ys);
    };
  }
  return convert(from, to);
}

const hasShift = ({ proj4: definition }: Crs): boolean => /\+(towgs84|datum|nadgrids)=/.test(definition);

function convert(from: Crs, to: Crs): Reproject {
  const converter = proj4(from.proj4, to.proj4);
  return (xs, ys) => {
    for (let at = 0; at < xs.length; at += 1) {
      let x = Number.NaN;
      let y = Number.NaN;
      // Degrees beyond the poles are a projection's error for some systems and nonsense for others.
      if (
        Number.isFinite(xs[at]!) &&
        Number.isFinite(ys[at]!) &&
        !(from.isGeographic && Math.abs(ys[at]!) > 90.000_001)
      ) {
        try {
          [x, y] = converter.forward([xs[at]!, ys[at]!]) as [number, number];
        } catch {
          // Outside of what the projection can show.
        }
      }
      const isUsable = Number.isFinite(x) && Number.isFinite(y);
      xs[at] = isUsable ? x : Number.NaN;
      ys[at] = isUsable ? y : Number.NaN;
    }
  };
}

/**
 * The box in another system that holds all of a box, by points along its edges and inside it.
 * Geographic results stay within ±180 and ±90 unless they cross the antimeridian: then west is greater than east less 360.
 */
export function reprojectBbox(bbox: Bbox, from: Crs, to: Crs): Bbox | undefined {
  if (isSame(from, to)) {
    return bbox;
  }
  const [minX, minY, maxX, maxY] = bbox;
  const points = isMercatorTile(bbox, from) && isWgs84(to) ? 2 : EDGE_POINTS;
  const xs = new Float64Array(points * points);
  const ys = new Float64Array(points * points);
  for (let row = 0; row < points; row += 1) {
    for (let column = 0; column < points; column += 1) {
      xs[row * points + column] = minX + ((maxX - minX) * column) / (points - 1);
      ys[row * points + column] = minY + ((maxY - minY) * row) / (points - 1);
    }
  }
  createReproject(from, to)(xs, ys);
  return boundPoints(xs, ys, to.isGeographic);
}

/**
 * Most requests are of such boxes; in degrees their edges are straight, so that the corners say all. Wider ones are left to their points:
 * the corners of the whole world are one meridian.
 */
const isMercatorTile = ([minX, , maxX]: Bbox, { id }: Crs): boolean =>
  id === "EPSG:3857" &&
  Math.abs(minX) <= MERCATOR_EDGE &&
  Math.abs(maxX) <= MERCATOR_EDGE &&
  maxX - minX < MERCATOR_EDGE;

/** The box of points; `undefined` when none is usable. */
export function boundPoints(xs: Float64Array, ys: Float64Array, isGeographic: boolean): Bbox | undefined {
  const bounds = toBounds(xs, ys);
  if (bounds === undefined || !isGeographic || bounds[2] - bounds[0] <= 180) {
    return bounds;
  }
  // Points on both sides of the antimeridian: seen from its other side they may be close together. What is wider than half of the Earth
  // either way only looks narrower there, by the distance of its points.
  const shifted = toBounds(
    xs.map((x) => (x < 0 ? x + 360 : x)),
    ys,
  );
  return shifted !== undefined && shifted[2] - shifted[0] <= 180 ? shifted : bounds;
}

function toBounds(xs: Float64Array, ys: Float64Array): Bbox | undefined {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < xs.length; at += 1) {
    const [x, y] = [xs[at]!, ys[at]!];
    if (!Number.isNaN(x) && !Number.isNaN(y)) {
      minX = Math.min(minX, x);
      maxX = Math.max(maxX, x);
      minY = Math.min(minY, y);
      maxY = Math.max(maxY, y);
    }
  }
  return minX <= maxX ? [minX, minY, maxX, maxY] : undefined;
}
