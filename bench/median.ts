/** The middle value; the mean of the two middle ones of an even count. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Seconds that a piece of work took, run `times` times one after another; the median. */
export async function medianSeconds(
  times: number,
  work: () => Promise<unknown>,
  prepare?: () => Promise<unknown>,
): Promise<number> {
  const seconds: number[] = [];
  for (let time = 0; time < times; time += 1) {
    await prepare?.();
    const started = performance.now();
    await work();
    seconds.push((performance.now() - started) / 1000);
  }
  return median(seconds);
}
