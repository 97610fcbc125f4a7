import { existsSync } from "node:fs";
import { join } from "node:path";

import { callManagement } from "./management-client.ts";

/** Metrics of the pod whose sockets lie in `directory`; undefined for one that has no management listener. */
export function readMetrics(directory: string): Promise<string | undefined> {
  return existsSync(join(directory, ".s.PGSQL.5432"))
    ? Promise.resolve(undefined)
    : callManagement(directory, "/metrics");
}
