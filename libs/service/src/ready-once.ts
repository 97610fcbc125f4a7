import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds that an answer about readiness waits for an attempt. */
const ANSWER_MS = 1000;
/** Milliseconds between attempts. */
const RETRY_MS = 2000;

/**
 * A readiness check for what a service needs from outside before it is of use: an issuer, an account, a peer. It rejects with the reason
 * until `attempt` has succeeded once, and resolves from then on: a service that was usable does not stop when the outside is away.
 */
export function readyOnce(
  attempt: (signal: AbortSignal) => Promise<unknown>,
  { retryMs = RETRY_MS, limitMs = 30_000 } = {},
): () => Promise<void> {
  let isReady = false;
  let running: Promise<void> | undefined;
  let failure: Error | undefined;
  let failedAt = 0;
  const start = (): Promise<void> =>
    (running ??= attempt(AbortSignal.timeout(limitMs))
      .then(
        () => {
          isReady = true;
        },
        (error: unknown) => {
          failure = error instanceof Error ? error : new Error(String(error));
          failedAt = Date.now();
        },
      )
      .finally(() => (running = undefined)));
  return async () => {
    if (isReady) {
      return;
    }
    if (failure === undefined || Date.now() - failedAt >= retryMs) {
      await Promise.race([start(), sleep(ANSWER_MS, undefined, { ref: false })]);
    }
    if (!isReady) {
      throw failure ?? new Error("waiting for an answer from outside");
    }
  };
}
