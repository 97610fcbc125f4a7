import { runService } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import { buildDataAccess } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "data-access",
  settings,
  build: async ({ settings: provided, logger }) => {
    const { app, ready, close } = await buildDataAccess(provided, logger);
    return { servers: { http: await readyServer(app) }, ready, close };
  },
});
