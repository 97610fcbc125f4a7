import { openListener } from "@swath/postgres";

import { BUCKET_CHANNEL, claimBucket, untilNextDue } from "../store/buckets.ts";
import { type ReconcileDeps, reconcile } from "./reconcile.ts";

interface LoopOptions extends ReconcileDeps {
  readonly databaseUrl: string;
  /** Buckets at once. */
  readonly concurrency: number;
}

export interface Loop {
  /** Takes nothing new and waits for what is under way. */
  readonly stop: () => Promise<void>;
}

/** Buckets of an operator that died become due without anybody saying so. */
const MAX_SLEEP_MS = 10_000;

/** Works on every bucket that is due, woken by changes and by time. */
export async function startLoop(options: LoopOptions): Promise<Loop> {
  const { db, logger, concurrency, databaseUrl } = options;
  const running = new Set<Promise<void>>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | undefined;
  let isDueAgain = false;

  const claimAll = async () => {
    do {
      isDueAgain = false;
      while (!isStopped && running.size < concurrency) {
        const bucket = await claimBucket(db);
        if (bucket === undefined) {
          break;
        }
        const work = reconcile(options, bucket)
          .catch((error: unknown) => logger.error({ bucket: bucket.name, err: error }, "cannot reconcile a bucket"))
          .finally(() => {
            running.delete(work);
            pump();
          });
        running.add(work);
      }
    } while (isDueAgain && !isStopped && running.size < concurrency);
    return Math.min(MAX_SLEEP_MS, (await untilNextDue(db)) ?? MAX_SLEEP_MS);
  };
  const pump = () => {
    isDueAgain = true;
    if (isStopped || pumping !== undefined) {
      return;
    }
    clearTimeout(timer);
    pumping = claimAll()
      .catch((error: unknown) => {
        logger.warn({ err: error }, "the database does not answer; retrying");
        return 1000;
      })
      .then((delayMs) => {
        pumping = undefined;
        if (!isStopped) {
          // While all places are taken, the end of one wakes it.
          timer = setTimeout(pump, running.size < concurrency ? delayMs : MAX_SLEEP_MS);
        }
      });
  };
  const listener = await openListener({
    url: databaseUrl,
    channel: BUCKET_CHANNEL,
    onMessage: pump,
    onConnect: pump,
    onError: (error) => logger.warn({ err: error }, "lost the connection that changes are told on"),
  });
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await listener.close();
      await pumping;
      await Promise.all(running);
    },
  };
}
