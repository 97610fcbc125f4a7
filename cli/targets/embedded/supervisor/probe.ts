import { request } from "node:http";
import { join } from "node:path";

import type { Workload } from "@swath/manifest";
import { probePostgres } from "@swath/postgres/probe";

const TIMEOUT_MS = 3000;

/** Resolves when the pod whose sockets lie in `directory` can serve; rejects with the reason. */
export function probeReady(workload: Workload, directory: string): Promise<void> {
  const answer =
    workload.probe === "postgres"
      ? probePostgres({ path: join(directory, ".s.PGSQL.5432") }, TIMEOUT_MS)
      : getManagement(directory, "/readyz");
  return answer.catch((error: NodeJS.ErrnoException) => {
    // Its socket is not there yet.
    throw error.code === "ENOENT" || error.code === "ECONNREFUSED" ? new Error("starting") : error;
  });
}

/** Resolves when the pod is alive, ready or not. */
export function probeAlive(workload: Workload, directory: string): Promise<void> {
  return workload.probe === "postgres" ? probeReady(workload, directory) : getManagement(directory, "/healthz");
}

function getManagement(directory: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = request({ socketPath: join(directory, "management.sock"), path, timeout: TIMEOUT_MS }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (body += chunk.slice(0, 500)));
      response.on("end", () => {
        if (response.statusCode === 200) {
          resolve();
        } else {
          reject(new Error(body.trim() || `${path} answered ${response.statusCode}`));
        }
      });
    });
    probe.on("timeout", () => probe.destroy(new Error(`${path} did not answer within ${TIMEOUT_MS / 1000} s`)));
    probe.on("error", reject);
    probe.end();
  });
}
