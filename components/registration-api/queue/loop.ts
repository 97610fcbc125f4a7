import { randomUUID } from "node:crypto";

import { openListener } from "@swath/postgres";
import type { Logger } from "@swath/service";
import type pg from "pg";

import {
  type ClaimedTask,
  TASK_CHANNEL,
  claimTask,
  reclaimTasks,
  releaseTask,
  removeOldTasks,
  requesterOf,
  untilNextTask,
} from "../store/tasks.ts";
import { MAX_ATTEMPTS } from "./retry.ts";

interface LoopOptions {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly logger: Logger;
  /** Tasks at once. */
  readonly concurrency: number;
  readonly retentionDays: number;
  /** Carries a task out and notes what came of it; rejects only when that cannot be noted. */
  readonly run: (task: ClaimedTask) => Promise<void>;
}

export interface Loop {
  readonly ready: () => Promise<void>;
  /** Takes nothing new and waits for what is under way. */
  readonly stop: () => Promise<void>;
}

/** Tasks whose lease ran out become due without anybody saying so. */
const MAX_SLEEP_MS = 10_000;
/** One place in so many is for requesters that have no other. */
const PLACES_OF_EACH_RESERVED = 4;
const CLEANUP_INTERVAL_MS = 3_600_000;

/** Carries tasks out as they come, woken by new ones and by time. */
export async function startLoop(options: LoopOptions): Promise<Loop> {
  const { pool, databaseUrl, logger, concurrency, run, retentionDays } = options;
  const running = new Map<Promise<void>, string>();
  // Long tasks of some hold up nobody else: the last places are for those who have none.
  const shared = concurrency - Math.floor(concurrency / PLACES_OF_EACH_RESERVED);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lastError: unknown;
  let isPumping = false;
  let again = false;

  /** Lease of a claim whose response was lost with the connection. */
  let unknown: string | undefined;

  const claim = async (others?: readonly string[]): Promise<ClaimedTask | undefined> => {
    if (unknown !== undefined) {
      await releaseTask(pool, unknown);
    }
    unknown = randomUUID();
    const task = await claimTask(pool, { lease: unknown, ...(others && { others }) });
    unknown = undefined;
    return task;
  };

  const pump = async (): Promise<void> => {
    again = true;
    if (isPumping || isStopped) {
      return;
    }
    isPumping = true;
    clearTimeout(timer);
    let pause = 1000;
    try {
      while (again && !isStopped) {
        again = false;
        await reclaimTasks(pool, MAX_ATTEMPTS);
        while (!isStopped && running.size < concurrency) {
          const task = await claim(running.size < shared ? undefined : [...running.values()]);
          if (task === undefined) {
            break;
          }
          const work: Promise<void> = run(task)
            .catch((error: unknown) => logger.warn({ err: error, task: task.id }, "failed to record a task"))
            .finally(() => {
              running.delete(work);
              void pump();
            });
          // Harvests of a requester do not keep the requester from registering something meanwhile.
          running.set(work, task.kind === "harvest" ? "" : requesterOf(task));
        }
      }
      lastError = undefined;
      pause = Math.min(Math.max((await untilNextTask(pool)) ?? MAX_SLEEP_MS, 20), MAX_SLEEP_MS);
    } catch (error) {
      lastError = error;
      logger.warn({ err: error }, "cannot look for tasks; trying again");
    } finally {
      isPumping = false;
    }
    if (!isStopped) {
      clearTimeout(timer);
      timer = setTimeout(() => void pump(), again ? 0 : pause);
    }
  };

  const cleanup = (): void => {
    removeOldTasks(pool, retentionDays).catch((error: unknown) =>
      logger.warn({ err: error }, "failed to remove old tasks; trying again"),
    );
  };
  cleanup();
  const cleanupTimer = setInterval(cleanup, CLEANUP_INTERVAL_MS);
  const listener = await openListener({
    url: databaseUrl,
    channel: TASK_CHANNEL,
    onMessage: () => void pump(),
    onConnect: () => void pump(),
    onError: (error) => logger.warn({ err: error }, "task notifications disconnected; reconnecting"),
  });
  return {
    ready: async () => {
      if (lastError !== undefined) {
        throw new Error("the database does not answer", { cause: lastError });
      }
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(cleanupTimer);
      await listener.close();
      await Promise.allSettled(running.keys());
      clearTimeout(timer);
    },
  };
}
