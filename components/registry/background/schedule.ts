import { drainQueue, startPeriodic } from "@swath/work";

import { startDueReplications } from "../replication/run.ts";
import { runPolicy } from "../retention/run.ts";
import { deleteGivenUpArrivals } from "../store/cache.ts";
import { findProject } from "../store/projects.ts";
import { INTERVAL_OF_SCHEDULE } from "../store/replication.ts";
import { dueRetentions } from "../store/retention.ts";
import { deleteOldDeliveries } from "../store/webhooks.ts";
import type { PullCounter } from "./pull-counter.ts";
import { type CollectOptions, collect } from "./collect.ts";

interface ScheduleOptions extends CollectOptions {
  readonly databaseUrl: string;
  readonly intervalSeconds: number;
  readonly pulls: PullCounter;
}

/** Collects garbage when some was made, and now and then what expired. Begins what is due by a schedule. */
export async function startSchedule(options: ScheduleOptions): Promise<{ readonly stop: () => Promise<void> }> {
  const { database, databaseUrl, intervalSeconds, pulls, onError } = options;
  const timer = setInterval(() => void pulls.flush().catch(onError), intervalSeconds * 1000);
  const steps = [
    () => collect(options),
    () => deleteOldDeliveries(database),
    () => deleteGivenUpArrivals(database),
    () => startDueReplications(database),
    () => runDueRetention(options),
  ];
  const periodic = await startPeriodic({
    listen: { url: databaseUrl, channel: "registry_garbage" },
    everyMs: intervalSeconds * 1000,
    onError,
    work: async () => {
      // One that fails does not keep the others from their turn.
      for (const step of steps) {
        await step().catch(onError);
      }
    },
  });
  return {
    stop: async () => {
      clearInterval(timer);
      await periodic.stop();
      await pulls.flush().catch(onError);
    },
  };
}

/** Retention policies whose time has come. */
async function runDueRetention({ database, onError }: ScheduleOptions): Promise<void> {
  await drainQueue(dueRetentions, database.pool, async ({ row, lease }) => {
    const project = await findProject(database, row.project);
    if (project !== undefined) {
      await runPolicy(database, project).catch(onError);
    }
    await lease.end(`next_at = now() + ${INTERVAL_OF_SCHEDULE}`);
  });
}
