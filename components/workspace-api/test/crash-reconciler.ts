// A reconciler that ends itself with SIGKILL where CRASH_AT says: "before bucket", "after bucket", "call 3" (before its third
// request to the object storage), "saved" (after a step kept what it made).
import { openDatabase } from "@swath/postgres";
import { createLogger, loadSettings } from "@swath/service";
import { join } from "node:path";

import { reconcilerSettings } from "../config.ts";
import { startReconciler } from "../reconciler/start-reconciler.ts";
import { createSteps } from "../steps/index.ts";
import type { Step } from "../steps/step.ts";
import type { Tables } from "../store/tables.ts";

// oxlint-disable-next-line node/no-process-env -- a program of its own
const env = process.env;
const crashAt = env["CRASH_AT"];
const settings = loadSettings(reconcilerSettings, env);
const crash = (point: string) => {
  if (point === crashAt) {
    process.kill(process.pid, "SIGKILL");
  }
};
const database = await openDatabase<Tables>({
  url: settings.DATABASE_URL,
  schema: "workspace",
  migrations: join(import.meta.dirname, "../migrations"),
  onError: () => {},
});
const { steps } = createSteps(settings, database.db, (count) => crash(`call ${count}`));
/** A step that may end the process once it has kept something. */
const watched = steps.map((step): Step => ({
  ...step,
  apply: (context) =>
    step.apply({
      ...context,
      save: async (outputs) => {
        await context.save(outputs);
        crash("saved");
      },
    }),
}));
await startReconciler({
  db: database.db,
  pool: database.pool,
  steps: watched,
  logger: createLogger("reconciler", "fatal"),
  interval: settings.RECONCILE_INTERVAL,
  databaseUrl: settings.DATABASE_URL,
  concurrency: settings.CONCURRENCY,
  onPoint: crash,
});
