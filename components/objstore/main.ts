import { runService } from "@swath/service";

import { buildObjstore } from "./build.ts";
import { settings } from "./config.ts";

await runService({ name: "objstore", settings, build: buildObjstore });
