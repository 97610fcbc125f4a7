import { runService } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import { buildCatalogue } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "resource-catalogue",
  settings,
  build: async ({ settings: provided, logger, metrics }) => {
    const { app, createInternalServer, check, close } = await buildCatalogue(provided, logger, metrics);
    const http = await readyServer(app);
    return {
      servers: { http, ...(createInternalServer && { internal: createInternalServer() }) },
      ready: check,
      close,
    };
  },
});
