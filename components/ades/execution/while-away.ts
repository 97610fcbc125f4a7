import { setTimeout as sleep } from "node:timers/promises";

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

interface Options {
  readonly signal: AbortSignal;
  /** Whether the failure may pass by itself. */
  readonly isPassing: (error: unknown) => boolean;
  /** Milliseconds after which a failure counts all the same; for ever when left out. */
  readonly patience?: number;
  /** Told of each failure that is waited for. */
  readonly onWait?: (error: unknown) => void;
}

/**
 * Does work again and again while what it needs is away, with longer and longer pauses.
 * @throws the failure that does not pass, or the reason of the signal
 */
export async function whileAway<T>(
  work: () => Promise<T>,
  { signal, isPassing, patience, onWait }: Options,
): Promise<T> {
  const until = performance.now() + (patience ?? Number.POSITIVE_INFINITY);
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isPassing(error) || performance.now() + pause > until) {
        throw error;
      }
      onWait?.(error);
    }
    await sleep(pause, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
