import { runService } from "@swath/service";

import { buildHub } from "./build.ts";
import { hubSettings } from "./config.ts";

await runService({ name: "application-hub", settings: hubSettings, build: buildHub });
