import { join } from "node:path";

import type { Workload } from "@swath/manifest";
import { probePostgres } from "@swath/postgres/probe";

import { callManagement } from "../management-client.ts";

const POSTGRES_TIMEOUT_MS = 3000;

/** Resolves when the pod whose sockets lie in `directory` can serve; rejects with the reason. */
export async function probeReady(workload: Workload, directory: string): Promise<void> {
  try {
    await (workload.probe === "postgres"
      ? probePostgres({ path: join(directory, ".s.PGSQL.5432") }, POSTGRES_TIMEOUT_MS)
      : callManagement(directory, "/readyz"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Its socket is not there yet.
    throw code === "ENOENT" || code === "ECONNREFUSED" ? new Error("starting") : error;
  }
}

/** Resolves when the pod is alive, ready or not. */
export async function probeAlive(workload: Workload, directory: string): Promise<void> {
  await (workload.probe === "postgres" ? probeReady(workload, directory) : callManagement(directory, "/healthz"));
}
