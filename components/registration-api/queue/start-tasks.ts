import { randomUUID } from "node:crypto";

import type { Logger } from "@swath/service";
import { type ClaimRequest, type Loop, startLoop, startPeriodic } from "@swath/work";
import type pg from "pg";

import {
  type ClaimedTask,
  TASK_CHANNEL,
  claimTasks,
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

/** One place in so many is for requesters that have no other. */
const PLACES_OF_EACH_RESERVED = 4;
const CLEANUP_INTERVAL_MS = 3_600_000;

/** Carries tasks out as they come, woken by new ones and by time. */
export async function startTasks(options: LoopOptions): Promise<Loop> {
  const { pool, databaseUrl, logger, concurrency, run, retentionDays } = options;
  // Long tasks of some users hold up no others: the last places are for users who have none.
  const shared = concurrency - Math.floor(concurrency / PLACES_OF_EACH_RESERVED);
  /** Lease of a claim whose response was lost with the connection. */
  let unknown: string | undefined;

  const take = async (limit: number, others?: readonly string[]): Promise<readonly ClaimedTask[]> => {
    if (unknown !== undefined) {
      await releaseTask(pool, unknown);
    }
    unknown = randomUUID();
    const tasks = await claimTasks(pool, limit, { lease: unknown, ...(others && { others }) });
    unknown = undefined;
    return tasks;
  };
  const claim = async ({ running, isTimed }: ClaimRequest<ClaimedTask>): Promise<readonly ClaimedTask[]> => {
    if (isTimed) {
      await reclaimTasks(pool, MAX_ATTEMPTS);
    }
    const taken = running.length < shared ? [...(await take(shared - running.length))] : [];
    while (running.length + taken.length >= shared && running.length + taken.length < concurrency) {
      // Harvests of a requester do not keep the requester from registering something meanwhile.
      const others = [...running, ...taken].map((task) => (task.kind === "harvest" ? "" : requesterOf(task)));
      const [next] = await take(1, others).catch((error: unknown) => {
        if (taken.length === 0) {
          throw error;
        }
        // What was taken before it is carried out; the next claim meets the failure again, or gives back what this one took.
        return [];
      });
      if (next === undefined) {
        break;
      }
      taken.push(next);
    }
    return taken;
  };
  const loop = await startLoop<ClaimedTask>({
    concurrency,
    listen: { url: databaseUrl, channel: TASK_CHANNEL },
    claim,
    untilDue: () => untilNextTask(pool),
    run,
    onError: (err, task) =>
      task === undefined
        ? logger.warn({ err }, "cannot look for tasks; trying again")
        : logger.warn({ err, task: task.id }, "failed to record a task"),
  });
  const cleanup = await startPeriodic({
    everyMs: CLEANUP_INTERVAL_MS,
    work: () => removeOldTasks(pool, retentionDays),
    onError: (err) => logger.warn({ err }, "failed to remove old tasks; trying again"),
  });
  return {
    ...loop,
    stop: async () => {
      await cleanup.stop();
      await loop.stop();
    },
  };
}
