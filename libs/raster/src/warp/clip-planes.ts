import { RasterError, invalidRequest } from "../errors.ts";
import type { Plane } from "../render/plane.ts";
import type { Crs } from "./crs.ts";
import type { Bbox, Grid } from "./grid.ts";
import { boundPoints, createReproject } from "./reproject.ts";

/** An area by its rings; a point inside of an odd number of them is inside, or of any where it is their union. */
export interface Clip {
  readonly crs: Crs;
  readonly isUnion?: boolean;
  /** Takes each pixel that the area touches, as rio-tiler; those whose centre is inside when left out, as gdalwarp. */
  readonly isTouched?: boolean;
  readonly rings: readonly (readonly (readonly [x: number, y: number])[])[];
}

const MAX_POINTS = 100_000;
/** Straight edges bend in another system: each is followed by this many points. */
const EDGE_PARTS = 16;
/** Lines down a pixel along which its covered part is measured. */
const LINES = 10;

type Ring = readonly [xs: Float64Array, ys: Float64Array];

/**
 * Masks the pixels outside of an area.
 * @throws {RasterError} `invalid-request`, `too-large`
 */
export function clipPlanes(planes: readonly Plane[], grid: Grid, clip: Clip): readonly Plane[] {
  const inside = clip.isTouched === true ? measureCoverage(clip, grid) : rasterize(toParts(clip, grid.crs), grid);
  return planes.map(({ samples, mask, type }) => ({
    samples,
    type,
    mask: mask.map((value, at) => (inside[at]! > 0 ? value : 0)),
  }));
}

/**
 * The part of each pixel that an area covers, 0 to 1: exact along each of ten lines.
 * @throws {RasterError} `invalid-request`, `too-large`
 */
export function measureCoverage(clip: Clip, grid: Grid): Float32Array {
  const { width, height } = grid;
  const output = new Float32Array(width * height);
  if (clip.isUnion === true) {
    throw invalidRequest("The covered parts of pixels are not measured for areas of several rings.");
  }
  for (const [line, list] of findCrossings(toRings(clip, grid.crs), grid, height * LINES).entries()) {
    const start = Math.floor(line / LINES) * width;
    for (let at = 0; at + 1 < list.length; at += 2) {
      const [from, to] = [Math.max(0, list[at]!), Math.min(width, list[at + 1]!)];
      for (let column = Math.floor(from); column < to; column += 1) {
        output[start + column]! += Math.min(to, column + 1) - Math.max(from, column);
      }
    }
  }
  return output.map((length) => Math.min(1, length / LINES));
}

/** The box of an area in a system; `undefined` where the system cannot show it. */
export function boundsOfClip(clip: Clip, crs: Crs): Bbox | undefined {
  const rings = toRings(clip, crs);
  const join = (at: 0 | 1) => Float64Array.from(rings.flatMap((ring) => [...ring[at]]));
  return boundPoints(join(0), join(1), crs.isGeographic);
}

function toRings({ crs, rings }: Clip, to: Crs): readonly Ring[] {
  if (rings.length === 0 || rings.some((ring) => ring.length < 3)) {
    throw invalidRequest("An area must have rings of at least three points.");
  }
  if (rings.reduce((sum, { length }) => sum + length, 0) > MAX_POINTS) {
    throw new RasterError("too-large", `An area may have up to ${MAX_POINTS} points.`);
  }
  const reproject = createReproject(crs, to);
  const parts = crs.id === to.id ? 1 : EDGE_PARTS;
  return rings.map((ring): Ring => {
    const xs = new Float64Array(ring.length * parts);
    const ys = new Float64Array(ring.length * parts);
    for (const [at, [x, y]] of ring.entries()) {
      const [nextX, nextY] = ring[(at + 1) % ring.length]!;
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        throw invalidRequest("Points of an area must be finite numbers.");
      }
      for (let part = 0; part < parts; part += 1) {
        xs[at * parts + part] = x + ((nextX - x) * part) / parts;
        ys[at * parts + part] = y + ((nextY - y) * part) / parts;
      }
    }
    reproject(xs, ys);
    return [xs, ys];
  });
}

/** Rings that belong together: all, or each by itself. */
function toParts(clip: Clip, to: Crs): readonly (readonly Ring[])[] {
  const rings = toRings(clip, to);
  return clip.isUnion === true ? rings.map((ring) => [ring]) : [rings];
}

/** 1 for pixels whose centre is inside of some part. */
function rasterize(parts: readonly (readonly Ring[])[], grid: Grid): Uint8Array {
  const { width, height } = grid;
  const output = new Uint8Array(width * height);
  const spans = parts.flatMap((rings) => [...findCrossings(rings, grid, height).entries()]);
  for (const [row, list] of spans) {
    for (let at = 0; at + 1 < list.length; at += 2) {
      const from = Math.max(0, Math.ceil(list[at]! - 0.5));
      const to = Math.min(width, Math.ceil(list[at + 1]! - 0.5));
      if (from < to) {
        output.fill(1, row * width + from, row * width + to);
      }
    }
  }
  return output;
}

/** Columns at which edges cross the middles of lines of equal height, ascending: there inside and outside change. */
function findCrossings(
  rings: readonly Ring[],
  { bbox: [minX, minY, maxX, maxY], width }: Grid,
  lines: number,
): readonly (readonly number[])[] {
  const crossings: number[][] = Array.from({ length: lines }, () => []);
  for (const [xs, ys] of rings) {
    for (let at = 0; at < xs.length; at += 1) {
      const next = (at + 1) % xs.length;
      const [x1, y1, x2, y2] = [
        ((xs[at]! - minX) / (maxX - minX)) * width,
        ((maxY - ys[at]!) / (maxY - minY)) * lines,
        ((xs[next]! - minX) / (maxX - minX)) * width,
        ((maxY - ys[next]!) / (maxY - minY)) * lines,
      ];
      const first = Math.max(0, Math.ceil(Math.min(y1, y2) - 0.5));
      const last = Math.min(lines - 1, Math.ceil(Math.max(y1, y2) - 0.5) - 1);
      for (let row = first; row <= last; row += 1) {
        crossings[row]!.push(x1 + ((row + 0.5 - y1) / (y2 - y1)) * (x2 - x1));
      }
    }
  }
  for (const list of crossings) {
    list.sort((a, b) => a - b);
  }
  return crossings;
}
