import { runService } from "@swath/service";

import { buildBucketOperator } from "./build.ts";
import { settings } from "./config.ts";

await runService({ name: "bucket-operator", settings, build: buildBucketOperator });
