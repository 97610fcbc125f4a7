import { setTimeout as sleep } from "node:timers/promises";

import { createBackOff } from "@swath/work";

import { StagingError } from "../errors.ts";

const backOff = createBackOff({ firstSeconds: 0.25, maxSeconds: 10 });

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
    await sleep(backOff(failures) * 1000, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
