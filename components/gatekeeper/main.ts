import { runService } from "@swath/service";

import { buildGatekeeper } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "gatekeeper",
  settings,
  build: (context) => buildGatekeeper({ ...context, env: process.env }),
});
