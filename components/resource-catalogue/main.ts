import { runService } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import { buildCatalogue } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "resource-catalogue",
  settings,
  build: async ({ settings: given, logger }) => {
    const { app, check, close } = await buildCatalogue(given, logger);
    return { servers: { http: await readyServer(app) }, ready: check, close };
  },
});
