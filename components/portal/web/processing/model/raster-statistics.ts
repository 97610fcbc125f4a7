/** Values of one band, summed up. */
export interface RasterStatistics {
  /** Pixels with a value, and without. */
  readonly count: number;
  readonly empty: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly mean: number;
  readonly deviation: number;
  /** Values below which 2, 50 and 98 of 100 pixels lie; the outer two are what a picture is stretched to. */
  readonly low: number;
  readonly median: number;
  readonly high: number;
  readonly histogram: Histogram;
}

export interface Histogram {
  /** Where the first bar begins, and how wide each is. */
  readonly from: number;
  readonly width: number;
  readonly counts: readonly number[];
}

const MAX_BARS = 64;

/**
 * Sums up a band. Values that are not finite, or the band's own mark for "no value", do not count.
 * @returns `undefined` when no pixel has a value
 */
export function computeStatistics(values: ArrayLike<number>, noData: number | null): RasterStatistics | undefined {
  const kept = new Float64Array(values.length);
  let count = 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? Number.NaN;
    if (Number.isFinite(value) && value !== noData) {
      kept[count] = value;
      count += 1;
    }
  }
  if (count === 0) {
    return undefined;
  }
  const sorted = kept.subarray(0, count).sort();
  const [minimum, maximum] = [sorted[0] ?? 0, sorted[count - 1] ?? 0];
  const mean = sorted.reduce((sum, value) => sum + value, 0) / count;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  const quantile = (share: number) => sorted[Math.min(count - 1, Math.floor(share * count))] ?? 0;
  return {
    count,
    empty: values.length - count,
    minimum,
    maximum,
    mean,
    deviation: Math.sqrt(variance),
    low: quantile(0.02),
    median: quantile(0.5),
    high: quantile(0.98),
    histogram: toHistogram(sorted),
  };
}

/** Bars from the smallest to the largest value; few whole numbers get a bar each, around them. */
function toHistogram(sorted: Float64Array): Histogram {
  const [minimum, maximum] = [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0];
  const isWhole = maximum - minimum < MAX_BARS && sorted.every((value) => Number.isInteger(value));
  const bars = isWhole ? maximum - minimum + 1 : minimum === maximum ? 1 : MAX_BARS;
  const width = isWhole ? 1 : (maximum - minimum) / bars || 1;
  const from = isWhole ? minimum - 0.5 : minimum;
  const counts = Array.from({ length: bars }, () => 0);
  for (const value of sorted) {
    const bar = Math.min(bars - 1, Math.floor((value - from) / width));
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return { from, width, counts };
}

/** A number as people read it: five digits that matter. */
export function formatValue(value: number): string {
  if (value === 0) {
    return "0";
  }
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(5)));
}
