import { openDatabase } from "@swath/postgres";
import { runService } from "@swath/service";
import { measureLoops } from "@swath/work";

import { reconcilerSettings } from "../config.ts";
import { createSteps } from "../steps/index.ts";
import type { Tables } from "../store/tables.ts";
import { startReconciler } from "./start-reconciler.ts";

await runService({
  name: "workspace-reconciler",
  settings: reconcilerSettings,
  build: async ({ settings, logger, metrics, reportWaiting }) => {
    const { db, pool, check, close } = await openDatabase<Tables>({
      url: settings.DATABASE_URL,
      schema: "workspace",
      migrations: `${import.meta.dirname}/../migrations`,
      connections: settings.CONCURRENCY + 2,
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
      onUnavailable: reportWaiting,
    });
    const { steps, close: closeSteps } = createSteps(settings, db);
    const loop = await startReconciler({
      db,
      pool,
      steps,
      logger,
      interval: settings.RECONCILE_INTERVAL,
      databaseUrl: settings.DATABASE_URL,
      concurrency: settings.CONCURRENCY,
    });
    measureLoops(metrics, { workspaces: loop });
    return {
      servers: {},
      ready: async () => {
        await check();
        await loop.ready();
      },
      close: async () => {
        await loop.stop();
        await closeSteps();
        await close();
      },
    };
  },
});
