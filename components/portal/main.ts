import { runService } from "@swath/service";

import { buildPortal } from "./build.ts";
import { settings } from "./config.ts";

await runService({
  name: "portal",
  settings,
  build: (context) => buildPortal({ ...context, env: process.env }),
});
