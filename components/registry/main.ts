import { runService } from "@swath/service";

import { buildRegistry } from "./build.ts";
import { settings } from "./config.ts";

await runService({ name: "registry", settings, build: buildRegistry });
