/** The values that are drawn black and white. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
}

const SAMPLE = 20_000;

/** The values that two of a hundred pixels are below and above: a few odd pixels do not make all others grey. */
export function findStretch(values: ArrayLike<number>, noData: number | undefined): Stretch {
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  const sample: number[] = [];
  for (let index = 0; index < values.length; index += step) {
    const value = values[index];
    if (value !== undefined && Number.isFinite(value) && value !== noData) {
      sample.push(value);
    }
  }
  if (sample.length === 0) {
    return { low: 0, high: 1 };
  }
  sample.sort((a, b) => a - b);
  const at = (share: number) => sample[Math.min(sample.length - 1, Math.floor(share * sample.length))] ?? 0;
  const [low, high] = [at(0.02), at(0.98)];
  return high > low ? { low, high } : { low, high: low + 1 };
}

/** 0 to 255. */
export function toByte(value: number, { low, high }: Stretch): number {
  const share = (value - low) / (high - low);
  return share > 0 ? Math.round(Math.min(1, share) * 255) : 0;
}
