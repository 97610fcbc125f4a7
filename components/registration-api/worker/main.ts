import { runService } from "@swath/service";

import { workerSettings } from "../config.ts";
import { startWorker } from "./build.ts";

await runService({
  name: "registrar",
  settings: workerSettings,
  build: async ({ settings, logger, metrics, reportWaiting }) => {
    const { ready, close } = await startWorker(settings, logger, reportWaiting, metrics);
    return { servers: {}, ready, close };
  },
});
