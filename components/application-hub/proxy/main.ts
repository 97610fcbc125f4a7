import { runService } from "@swath/service";

import { proxySettings } from "../config.ts";
import { buildProxy } from "./build.ts";

await runService({ name: "application-hub-proxy", settings: proxySettings, build: buildProxy });
