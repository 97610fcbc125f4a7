import { runService } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import { buildDataAccess } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "data-access",
  settings,
  build: async ({ settings: given, logger }) => {
    const { app, close } = await buildDataAccess(given, logger);
    return { servers: { http: await readyServer(app) }, close };
  },
});
