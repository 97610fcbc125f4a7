import { setTimeout as sleep } from "node:timers/promises";

import { StagingError } from "../errors.ts";

const INITIAL_BACKOFF = 250;
const MAX_BACKOFF = 10_000;

/**
 * Runs an attempt until it succeeds, fails for good, or `retries` further attempts have failed. An attempt that reports
 * progress gives the next ones their full number again.
 */
export async function retry<T>(
  attempt: (reportProgress: () => void) => Promise<T>,
  { retries, signal }: { readonly retries: number; readonly signal: AbortSignal },
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await attempt(() => (failures = 0));
    } catch (error) {
      failures += 1;
      if (signal.aborted) {
        throw signal.reason;
      }
      if (!(error instanceof StagingError) || !error.temporary || failures > retries) {
        throw error;
      }
    }
    const pause = Math.min(INITIAL_BACKOFF * 2 ** (failures - 1), MAX_BACKOFF) * (0.75 + Math.random() / 2);
    await sleep(pause, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
