import { runService } from "@swath/service";

import { buildIdentity } from "./build.ts";
import { settings } from "./config.ts";

await runService({ name: "identity", settings, build: buildIdentity });
