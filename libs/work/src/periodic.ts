import { openListener } from "@swath/postgres/pool";

interface PeriodicOptions {
  /** For what comes due, or was told while the connection was lost. */
  readonly everyMs: number;
  /** Database to listen to, and the channel of NOTIFY that tells of something to do. */
  readonly listen?: { readonly url: string; readonly channel: string };
  readonly work: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Does some work at once, now and then, and when it is told to; never twice at once in one process. What fails is tried again the next time. */
export async function startPeriodic({
  everyMs,
  listen,
  work,
  onError,
}: PeriodicOptions): Promise<{ readonly wake: () => void; readonly stop: () => Promise<void> }> {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  const run = async () => {
    do {
      isWanted = false;
      await work().catch(onError);
    } while (isWanted && !isStopped);
    running = undefined;
  };
  const wake = () => {
    isWanted = true;
    if (!isStopped) {
      running ??= run();
    }
  };
  const timer = setInterval(wake, everyMs);
  const listener = listen && (await openListener({ ...listen, onMessage: wake, onConnect: wake, onError }));
  wake();
  return {
    wake,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await listener?.close();
      await running;
    },
  };
}
