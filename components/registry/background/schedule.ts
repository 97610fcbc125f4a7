import { runPolicy } from "../retention/run.ts";
import { findProject } from "../store/projects.ts";
import { takeDueRetention } from "../store/retention.ts";
import type { PullCounter } from "./pull-counter.ts";
import { type CollectOptions, collect } from "./collect.ts";
import { startWorker } from "./worker.ts";

interface ScheduleOptions extends CollectOptions {
  readonly databaseUrl: string;
  readonly intervalSeconds: number;
  readonly pulls: PullCounter;
}

/** Collects garbage when some was made, and now and then what expired. */
export async function startSchedule(options: ScheduleOptions): Promise<{ readonly stop: () => Promise<void> }> {
  const { databaseUrl, intervalSeconds, pulls, onError } = options;
  const timer = setInterval(() => void pulls.flush().catch(onError), intervalSeconds * 1000);
  const worker = await startWorker({
    databaseUrl,
    channel: "registry_garbage",
    everyMs: intervalSeconds * 1000,
    onError,
    work: async () => {
      await collect(options).catch(onError);
      await runDueRetention(options);
    },
  });
  return {
    stop: async () => {
      clearInterval(timer);
      await worker.stop();
      await pulls.flush().catch(onError);
    },
  };
}

/** Retention policies whose time has come. */
async function runDueRetention({ database }: ScheduleOptions): Promise<void> {
  for (let name = await takeDueRetention(database); name !== undefined; name = await takeDueRetention(database)) {
    const project = await findProject(database, name);
    if (project !== undefined) {
      await runPolicy(database, project);
    }
  }
}
