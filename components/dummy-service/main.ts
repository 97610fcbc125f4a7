import { runService } from "@swath/service";

import { settings } from "./config.ts";
import { createDummyService } from "./service.ts";

await runService({
  name: "dummy-service",
  settings,
  build: async ({ settings: { MAX_ECHOED_BYTES }, logger }) => ({
    servers: { http: createDummyService({ logger, maxEchoedBytes: MAX_ECHOED_BYTES }) },
  }),
});
