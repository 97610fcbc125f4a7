/** Seconds before the next attempt, after so many failed ones; undefined when the last attempt was made. */
export type BackOff = (attempts: number, random?: () => number) => number | undefined;

interface BackOffOptions {
  readonly firstSeconds: number;
  readonly maxSeconds: number;
  /** Each pause is so many times the one before; 2 when left out. */
  readonly factor?: number;
  /** How far a pause is spread to both sides, so that what failed together does not come back together; 0.25 when left out. */
  readonly spread?: number;
  /** Attempts at most; without a limit when left out. */
  readonly maxAttempts?: number;
}

/** When failed work is tried again, and when it is given up. */
export function createBackOff(options: { readonly maxAttempts: number } & BackOffOptions): BackOff;
export function createBackOff(options: Omit<BackOffOptions, "maxAttempts">): (...args: Parameters<BackOff>) => number;
export function createBackOff({
  firstSeconds,
  maxSeconds,
  factor = 2,
  spread = 0.25,
  maxAttempts = Number.POSITIVE_INFINITY,
}: BackOffOptions): BackOff {
  return (attempts, random = Math.random) => {
    if (attempts >= maxAttempts) {
      return undefined;
    }
    const seconds = Math.min(maxSeconds, firstSeconds * factor ** Math.max(0, attempts - 1));
    return seconds * (1 - spread + 2 * spread * random());
  };
}
