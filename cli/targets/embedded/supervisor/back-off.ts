/** Milliseconds before the next start, by how often it has failed in a row; the last one repeats. */
const DELAYS = [0, 250, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000];
/** A pod that was ready this long has recovered: its next failure counts as the first. */
const RECOVERED_AFTER_MS = 60_000;

export interface BackOff {
  /** Failures in a row. */
  readonly failures: number;
  /** Milliseconds to wait before starting again. */
  readonly next: () => number;
  readonly reportReady: () => void;
  readonly reset: () => void;
}

/** Growing pauses between restarts, as a cluster makes them, but at once for a single failure. */
export function createBackOff(now: () => number = Date.now): BackOff {
  let failures = 0;
  let readySince: number | undefined;
  return {
    get failures() {
      return failures;
    },
    next: () => {
      if (readySince !== undefined && now() - readySince >= RECOVERED_AFTER_MS) {
        failures = 0;
      }
      readySince = undefined;
      const delay = DELAYS[Math.min(failures, DELAYS.length - 1)] ?? 0;
      failures += 1;
      return delay;
    },
    reportReady: () => {
      readySince ??= now();
    },
    reset: () => {
      failures = 0;
    },
  };
}
