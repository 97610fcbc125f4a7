import { type Memory, OWN_MEMORY } from "../memory.ts";
import { type SampleType, type Samples, rangeOf } from "../readers/raster.ts";

export const RESAMPLINGS = ["nearest", "bilinear", "cubic", "average"] as const;
export type Resampling = (typeof RESAMPLINGS)[number];

/** Samples of a part of a raster, and where target pixels are in it: pixel corners are whole numbers. */
export interface ResampleSource {
  readonly width: number;
  readonly height: number;
  readonly type: SampleType;
  readonly samples: Samples;
  /** 0 where there is nothing. */
  readonly valid?: Uint8Array;
}

export interface ResampleTarget {
  readonly columns: Float64Array;
  readonly rows: Float64Array;
  /** Source pixels that one target pixel covers. */
  readonly scaleX: number;
  readonly scaleY: number;
}

/**
 * Weighted means of valid neighbours. A target pixel is valid where the source pixel it falls on is; that of an average, as with GDAL,
 * where it covers any valid one, which is noted in `covered`.
 * Where a target pixel covers several source pixels, kernels widen, so that nothing is skipped.
 */
export function resample(
  source: ResampleSource,
  target: ResampleTarget,
  index: Int32Array,
  method: Exclude<Resampling, "nearest">,
  { covered, memory = OWN_MEMORY }: { readonly covered?: Uint8Array; readonly memory?: Memory } = {},
): Samples {
  const output = memory.take(source.type, index.length);
  const store = createStore(output, source.type);
  const [scaleX, scaleY] = [Math.max(1, target.scaleX), Math.max(1, target.scaleY)];
  // Other software does not widen for the few percent that projections stretch either.
  const isWide = scaleX > 1.05 || scaleY > 1.05;
  if (method === "average") {
    averageInto(source, target, store, covered);
  } else if (method === "bilinear" && !isWide) {
    bilinearInto(source, target, index, output);
  } else {
    convolveInto(source, target, index, store, method === "cubic", isWide ? scaleX : 1, isWide ? scaleY : 1);
  }
  return output;
}

type Store = (at: number, value: number) => void;

/** Whole numbers are rounded and kept within their range. */
function createStore(output: Samples, type: SampleType): Store {
  const range = rangeOf(type);
  if (range === undefined) {
    return (at, value) => {
      output[at] = value;
    };
  }
  const [least, greatest] = range;
  return (at, value) => {
    output[at] = value <= least ? least : value >= greatest ? greatest : Math.floor(value + 0.5);
  };
}

function bilinearInto(
  { width, height, samples, valid, type }: ResampleSource,
  { columns, rows }: ResampleTarget,
  index: Int32Array,
  output: Samples,
): void {
  // Means stay between their inputs: whole numbers are only rounded.
  const isWhole = rangeOf(type) !== undefined;
  for (let at = 0; at < index.length; at += 1) {
    const nearest = index[at]!;
    if (nearest < 0 || (valid !== undefined && valid[nearest] === 0)) {
      continue;
    }
    const x = columns[at]! - 0.5;
    const y = rows[at]! - 0.5;
    const left = Math.floor(x);
    const top = Math.floor(y);
    const u = x - left;
    const v = y - top;
    const from = top * width + left;
    if (
      left >= 0 &&
      top >= 0 &&
      left + 1 < width &&
      top + 1 < height &&
      (valid === undefined || (valid[from]! & valid[from + 1]! & valid[from + width]! & valid[from + width + 1]!) === 1)
    ) {
      const upper = samples[from]! * (1 - u) + samples[from + 1]! * u;
      const lower = samples[from + width]! * (1 - u) + samples[from + width + 1]! * u;
      const value = upper * (1 - v) + lower * v;
      output[at] = isWhole ? Math.floor(value + 0.5) : value;
      continue;
    }
    let sum = 0;
    let weights = 0;
    for (let corner = 0; corner < 4; corner += 1) {
      const column = left + (corner & 1);
      const row = top + (corner >> 1);
      const weight = ((corner & 1) === 0 ? 1 - u : u) * (corner < 2 ? 1 - v : v);
      if (
        weight > 0 &&
        column >= 0 &&
        column < width &&
        row >= 0 &&
        row < height &&
        (valid === undefined || valid[row * width + column] !== 0)
      ) {
        sum += samples[row * width + column]! * weight;
        weights += weight;
      }
    }
    const value = weights > 0 ? sum / weights : samples[nearest]!;
    output[at] = isWhole ? Math.floor(value + 0.5) : value;
  }
}

/** Triangle. */
function linear(distance: number): number {
  return distance < 1 ? 1 - distance : 0;
}

/** Catmull-Rom (a = -0.5), as GDAL. */
function cubic(distance: number): number {
  return distance <= 1
    ? (1.5 * distance - 2.5) * distance * distance + 1
    : distance < 2
      ? ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
      : 0;
}

const MAX_TAPS = 512;

function convolveInto(
  { width, height, samples, valid }: ResampleSource,
  { columns, rows }: ResampleTarget,
  index: Int32Array,
  store: Store,
  isCubic: boolean,
  scaleX: number,
  scaleY: number,
): void {
  const radius = isCubic ? 2 : 1;
  const [reachX, reachY] = [Math.min(radius * scaleX, MAX_TAPS / 2), Math.min(radius * scaleY, MAX_TAPS / 2)];
  const weightsX = new Float64Array(Math.ceil(reachX) * 2 + 2);
  for (let at = 0; at < index.length; at += 1) {
    const nearest = index[at]!;
    if (nearest < 0 || (valid !== undefined && valid[nearest] === 0)) {
      continue;
    }
    const x = columns[at]! - 0.5;
    const y = rows[at]! - 0.5;
    const left = Math.max(0, Math.ceil(x - reachX));
    const right = Math.min(width - 1, Math.floor(x + reachX));
    const top = Math.max(0, Math.ceil(y - reachY));
    const bottom = Math.min(height - 1, Math.floor(y + reachY));
    let weightOfRow = 0;
    for (let column = left; column <= right; column += 1) {
      const distance = Math.abs(column - x) / scaleX;
      const weight = isCubic ? cubic(distance) : linear(distance);
      weightsX[column - left] = weight;
      weightOfRow += weight;
    }
    let sum = 0;
    let weights = 0;
    for (let row = top; row <= bottom; row += 1) {
      const distance = Math.abs(row - y) / scaleY;
      const weightY = isCubic ? cubic(distance) : linear(distance);
      if (weightY === 0) {
        continue;
      }
      const first = row * width + left;
      const taps = right - left + 1;
      let sumOfRow = 0;
      if (valid === undefined) {
        for (let tap = 0; tap < taps; tap += 1) {
          sumOfRow += samples[first + tap]! * weightsX[tap]!;
        }
        weights += weightOfRow * weightY;
      } else {
        let weightOfValid = 0;
        for (let tap = 0; tap < taps; tap += 1) {
          if (valid[first + tap] !== 0) {
            const weight = weightsX[tap]!;
            sumOfRow += samples[first + tap]! * weight;
            weightOfValid += weight;
          }
        }
        weights += weightOfValid * weightY;
      }
      sum += sumOfRow * weightY;
    }
    store(at, weights > 1e-6 ? sum / weights : samples[nearest]!);
  }
}

/** The mean of what a target pixel covers, parts of pixels by their share. */
function averageInto(
  { width, height, samples, valid }: ResampleSource,
  { columns, rows, scaleX, scaleY }: ResampleTarget,
  store: Store,
  covered: Uint8Array | undefined,
): void {
  const [halfX, halfY] = [Math.max(0.5, scaleX / 2), Math.max(0.5, scaleY / 2)];
  // What is magnified is a mean of more than it covers, but is there only where it covers something.
  const [reachX, reachY] = [scaleX / 2, scaleY / 2];
  for (let at = 0; at < columns.length; at += 1) {
    const [x, y] = [columns[at]!, rows[at]!];
    // Not true of points that are nowhere either.
    if (!(x + reachX > 0 && x - reachX < width && y + reachY > 0 && y - reachY < height)) {
      continue;
    }
    const [left, right] = [Math.max(0, x - halfX), Math.min(width, x + halfX)];
    const [top, bottom] = [Math.max(0, y - halfY), Math.min(height, y + halfY)];
    let isCovered = false;
    let sum = 0;
    let weights = 0;
    for (let row = Math.floor(top); row < bottom; row += 1) {
      const share = Math.min(row + 1, bottom) - Math.max(row, top);
      for (let column = Math.floor(left); column < right; column += 1) {
        const from = row * width + column;
        if (valid === undefined || valid[from] !== 0) {
          const weight = share * (Math.min(column + 1, right) - Math.max(column, left));
          sum += samples[from]! * weight;
          weights += weight;
          isCovered ||= x - reachX < column + 1 && x + reachX > column && y - reachY < row + 1 && y + reachY > row;
        }
      }
    }
    if (isCovered && weights > 0) {
      store(at, sum / weights);
      if (covered !== undefined) {
        covered[at] = 1;
      }
    }
  }
}
