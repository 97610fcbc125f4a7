import { invalidRequest } from "../errors.ts";
import type { Samples } from "../readers/raster.ts";

export interface BandStatistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
  readonly sum: number;
  readonly std: number;
  readonly median: number;
  readonly majority: number;
  readonly minority: number;
  readonly unique: number;
  readonly histogram: readonly [counts: readonly number[], edges: readonly number[]];
  readonly valid_percent: number;
  readonly masked_pixels: number;
  readonly valid_pixels: number;
  readonly [percentile: `percentile_${number}`]: number;
}

const MAX_COUNTED_CATEGORIES = 10_000;
const MAX_COUNTED_VALUES = 1_000_000;

/** The statistics of dynamic tilers, over valid pixels. */
export function computeStatistics(
  samples: Samples,
  mask: Uint8Array,
  {
    percentiles = [2, 98],
    bins = 10,
    range,
    categories,
    weights,
  }: {
    percentiles?: readonly number[];
    bins?: number;
    range?: readonly [number, number];
    categories?: readonly number[];
    /**
     * Covered part of each pixel, 0 to 1. It weighs `mean`, `count`, `sum`, `std`, `median` and the percentiles, and `valid_percent` is of the
     * covered pixels, as in rio-tiler; the other numbers count pixels.
     */
    weights?: Float32Array;
  } = {},
): BandStatistics {
  const sorted = toSorted(samples, mask);
  const count = sorted.length;
  let sum = 0;
  for (const value of sorted) {
    sum += value;
  }
  const mean = count === 0 ? Number.NaN : sum / count;
  let squares = 0;
  for (const value of sorted) {
    squares += (value - mean) ** 2;
  }
  const [min, max] = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
  const { majority, minority, unique } = countRuns(sorted);
  const weighted = weights === undefined ? undefined : weigh(samples, mask, weights, [50, ...percentiles]);
  const [median = percentileOf(sorted, 50), ...values] = weighted?.percentiles ?? [];
  return {
    min,
    max,
    mean,
    count,
    sum,
    std: Math.sqrt(squares / count),
    median,
    majority,
    minority,
    unique,
    histogram:
      categories === undefined ? toHistogram(sorted, range ?? [min, max], bins) : countValues(sorted, categories),
    ...weighted?.moments,
    valid_percent: (count / (weighted?.pixels ?? mask.length)) * 100,
    masked_pixels: mask.length - count,
    valid_pixels: count,
    ...Object.fromEntries(
      percentiles.map((each, at) => [`percentile_${each}`, values[at] ?? percentileOf(sorted, each)]),
    ),
  };
}

/** Values below which the given percents of the pixels are, interpolated between neighbours. */
export function computePercentiles(
  samples: Samples,
  mask: Uint8Array,
  percentiles: readonly number[],
): readonly number[] {
  const sorted = toSorted(samples, mask);
  return percentiles.map((each) => percentileOf(sorted, each));
}

function toSorted(samples: Samples, mask: Uint8Array): Float64Array {
  const valid = new Float64Array(samples.length);
  let count = 0;
  for (let at = 0; at < samples.length; at += 1) {
    const value = samples[at]!;
    if (mask[at] !== 0 && Number.isFinite(value)) {
      valid[count] = value;
      count += 1;
    }
  }
  return valid.subarray(0, count).sort();
}

interface Weighted {
  /** Pixels with a weight. */
  readonly pixels: number;
  readonly moments: Pick<BandStatistics, "mean" | "count" | "sum" | "std">;
  /** The least values up to which the given percents of the weights are; NaN without pixels. */
  readonly percentiles: readonly number[];
}

function weigh(samples: Samples, mask: Uint8Array, weights: Float32Array, percents: readonly number[]): Weighted {
  const indices: number[] = [];
  let [pixels, count, sum] = [0, 0, 0];
  for (let at = 0; at < weights.length; at += 1) {
    const weight = weights[at]!;
    pixels += weight > 0 ? 1 : 0;
    if (weight > 0 && mask[at] !== 0 && Number.isFinite(samples[at])) {
      indices.push(at);
      count += weight;
      sum += samples[at]! * weight;
    }
  }
  const mean = sum / count;
  const squares = indices.reduce((total, at) => total + weights[at]! * (samples[at]! - mean) ** 2, 0);
  const ordered = Uint32Array.from(indices).sort((one, other) => samples[one]! - samples[other]!);
  const percentiles = percents.map(() => Number.NaN);
  const byPercent = percents.map((_, at) => at).toSorted((one, other) => percents[one]! - percents[other]!);
  let [done, reached] = [0, 0];
  for (const at of ordered) {
    reached += weights[at]!;
    while (done < byPercent.length && reached >= (percents[byPercent[done]!]! / 100) * count) {
      percentiles[byPercent[done]!] = samples[at]!;
      done += 1;
    }
  }
  return { pixels, moments: { mean, count, sum, std: Math.sqrt(squares / count) }, percentiles };
}

/** How often each value comes: of those named, else of all. */
function countValues(
  sorted: Float64Array,
  categories: readonly number[],
): readonly [counts: readonly number[], values: readonly number[]] {
  const counts = new Map(categories.map((value) => [value, 0]));
  const isOpen = categories.length === 0;
  for (const value of sorted) {
    const count = counts.get(value);
    if (count !== undefined || (isOpen && counts.size < MAX_COUNTED_CATEGORIES)) {
      counts.set(value, (count ?? 0) + 1);
    } else if (isOpen) {
      throw invalidRequest(`The pixels have more than ${MAX_COUNTED_CATEGORIES} values: they are no categories.`);
    }
  }
  return [[...counts.values()], [...counts.keys()]];
}

function percentileOf(sorted: Float64Array, percent: number): number {
  if (sorted.length === 0) {
    return Number.NaN;
  }
  const at = (Math.max(0, Math.min(100, percent)) / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}

function countRuns(sorted: Float64Array): { majority: number; minority: number; unique: number } {
  let [majority, minority, most, fewest, unique] = [Number.NaN, Number.NaN, 0, Infinity, 0];
  for (let start = 0; start < sorted.length && unique < MAX_COUNTED_VALUES;) {
    let end = start + 1;
    while (end < sorted.length && sorted[end] === sorted[start]) {
      end += 1;
    }
    unique += 1;
    if (end - start > most) {
      [majority, most] = [sorted[start]!, end - start];
    }
    if (end - start < fewest) {
      [minority, fewest] = [sorted[start]!, end - start];
    }
    start = end;
  }
  return { majority, minority, unique };
}

function toHistogram(
  sorted: Float64Array,
  [least, greatest]: readonly [number, number],
  bins: number,
): [number[], number[]] {
  const counts = Array.from({ length: bins }, () => 0);
  // One value only: a range of one around it, as numpy has it.
  const [from, to] = least === greatest ? [least - 0.5, greatest + 0.5] : [least, greatest];
  for (const value of sorted) {
    if (value >= from && value <= to) {
      const bin = Math.min(bins - 1, Math.floor(((value - from) / (to - from)) * bins));
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
  }
  return [counts, Array.from({ length: bins + 1 }, (_, bin) => from + ((to - from) * bin) / bins)];
}
