import { openListener } from "@swath/postgres/pool";

interface WorkerOptions {
  readonly databaseUrl: string;
  /** Told when there is something to do. */
  readonly channel: string;
  /** For what comes due, or was told while nobody listened. */
  readonly everyMs: number;
  readonly work: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Does some work when it is told to and now and then; never twice at once in one process. */
export async function startWorker({
  databaseUrl,
  channel,
  everyMs,
  work,
  onError,
}: WorkerOptions): Promise<{ readonly stop: () => Promise<void> }> {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  const run = async () => {
    do {
      isWanted = false;
      // The next turn tries again, and the log says what failed.
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
  const listener = await openListener({ url: databaseUrl, channel, onMessage: wake, onConnect: wake, onError });
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await listener.close();
      await running;
    },
  };
}
