import { setTimeout as sleep } from "node:timers/promises";

import { createBackOff } from "@swath/work";

const backOff = createBackOff({ firstSeconds: 0.1, maxSeconds: 5 });

interface Options {
  readonly signal: AbortSignal;
  /** Whether the failure may pass by itself. */
  readonly isTransient: (error: unknown) => boolean;
  /** Milliseconds after which a failure counts all the same; for ever when left out. */
  readonly timeout?: number;
  /** Told of each failure that is waited for. */
  readonly onWait?: (error: unknown) => void;
}

/**
 * Does work again and again while what it needs is away, with longer and longer pauses.
 * @throws the failure that does not pass, or the reason of the signal
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { signal, isTransient, timeout, onWait }: Options,
): Promise<T> {
  const until = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
  for (let attempt = 1; ; attempt += 1) {
    const pause = backOff(attempt) * 1000;
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isTransient(error) || performance.now() + pause > until) {
        throw error;
      }
      onWait?.(error);
    }
    await sleep(pause, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
