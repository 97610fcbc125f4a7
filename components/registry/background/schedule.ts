import { openListener } from "@swath/postgres";

import { runPolicy } from "../retention/run.ts";
import { findProject } from "../store/projects.ts";
import { takeDueRetention } from "../store/retention.ts";
import type { PullCounter } from "./pull-counter.ts";
import { type CollectOptions, collect } from "./collect.ts";

interface ScheduleOptions extends CollectOptions {
  readonly databaseUrl: string;
  readonly intervalSeconds: number;
  readonly pulls: PullCounter;
}

/** Collects garbage when some was made, and now and then what expired; never twice at once in one process. */
export async function startSchedule(options: ScheduleOptions): Promise<{ readonly stop: () => Promise<void> }> {
  let work: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  const run = async () => {
    do {
      isWanted = false;
      // The next turn tries again, and the log says what failed.
      await collect(options).catch(options.onError);
      await runDueRetention(options).catch(options.onError);
    } while (isWanted && !isStopped);
    work = undefined;
  };
  const wake = () => {
    isWanted = true;
    if (!isStopped) {
      work ??= run();
    }
  };
  const timer = setInterval(() => {
    wake();
    options.pulls.flush().catch(options.onError);
  }, options.intervalSeconds * 1000);
  const listener = await openListener({
    url: options.databaseUrl,
    channel: "registry_garbage",
    onMessage: wake,
    onConnect: wake,
    onError: options.onError,
  });
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await listener.close();
      await work;
      await options.pulls.flush().catch(options.onError);
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
