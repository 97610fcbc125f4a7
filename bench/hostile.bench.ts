// Cheap requests of a user while 16 clients send hostile ones to the same service, as `npm run fuzz` makes them, on a deployed platform.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { createTestCluster } from "@swath/testing";

import { createDeploymentFetch } from "../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../cli/targets/embedded/state/paths.ts";
import { createPlatform } from "../test/fuzz/services/targets.ts";
import type { HostileOrder, HostileReport, HostileSetUp } from "./hostile-clients.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const CLIENTS = 16;
const SEED = 7;
/** Idle and attacked by turns, so that what else the machine does is in both. */
const ROUNDS = 4;
const IDLE_REQUESTS = 80;
const HOSTILE_MS = 4000;

/** What another user asks of each, without a body. */
const CHEAP: Readonly<Record<string, string>> = {
  identity: "/realms/master/.well-known/openid-configuration",
  "identity-api": "/openapi.json",
  objstore: "/fuzz?list-type=2&max-keys=1",
  "objstore-console": "/api/sign-in",
  registry: "/v2/",
  "workspace-api": "/workspaces",
  "resource-catalogue": "/stac/collections?limit=1",
  "data-access": "/openapi.json",
  "registration-api": "/openapi.json",
  ades: "/bob/ogc-api/processes?limit=1",
  "application-hub": "/hub/api/",
  portal: "/api/session",
  gatekeeper: "/workspaces",
};

/** Takes about five minutes. `SERVICE=portal,ades` measures these services alone. */
export async function bench(): Promise<BenchRow[]> {
  const cluster = await createTestCluster({ USE_TLS: "false", OPEN_INGRESS: "true" });
  const clients = fork(join(import.meta.dirname, "hostile-clients.ts"), { stdio: "inherit" });
  // Hostile clients have machines of their own: they take only the processor time that the platform leaves.
  setPriority(clients.pid ?? 0, constants.priority.PRIORITY_LOW);
  try {
    const { status, stdout, stderr } = await cluster.apply();
    if (status !== 0) {
      throw new Error(`the platform could not be deployed: ${stdout}${stderr}`);
    }
    const send = createDeploymentFetch(cluster.domain, { address: "127.0.0.1" });
    const token = await createPlatform(cluster, send).logIn("bob");
    const { run } = clusterPaths(cluster.name, cluster.env);
    const pods = (await cluster.pods())
      .map(({ name, workload }) => ({ workload, directory: join(run, "pods", name) }))
      .filter(({ workload, directory }) => workload !== "ingress" && existsSync(join(directory, "management.sock")));
    const { domain, port } = cluster;
    const found = await order(clients, { domain, port, pods });
    const rows: BenchRow[] = [];
    const only = process.env["SERVICE"]?.split(",");
    for (const { service, url } of "targets" in found ? found.targets : []) {
      const path = CHEAP[service];
      if (path !== undefined && (only === undefined || only.includes(service))) {
        const ask = async (): Promise<number> => {
          const begun = performance.now();
          const response = await send(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
          await response.arrayBuffer();
          return performance.now() - begun;
        };
        const row = await measure(clients, service, ask);
        console.error(`${service}: ${row.ratio?.toFixed(1)} × ${row.peer?.value.toFixed(1)} ms`);
        rows.push({ ...row, note: `${path}; ${row.note}` });
      }
    }
    return rows;
  } finally {
    clients.kill();
    await cluster.close();
  }
}

/** Gives an order, and waits for its report. */
async function order(clients: ChildProcess, message: HostileSetUp | HostileOrder): Promise<HostileReport> {
  clients.send(message);
  const [report] = (await once(clients, "message")) as [HostileReport];
  return report;
}

async function measure(
  clients: ChildProcess,
  service: string,
  ask: () => Promise<number>,
): Promise<BenchRow & { readonly note: string }> {
  const [idle, loaded]: [number[], number[]] = [[], []];
  let hostile = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let request = 0; request < IDLE_REQUESTS; request += 1) {
      idle.push(await ask());
    }
    let isOver = false;
    const seed = SEED + round * CLIENTS;
    const attack = order(clients, { service, clients: CLIENTS, seed, milliseconds: HOSTILE_MS }).then((report) => {
      isOver = true;
      hostile += "sent" in report ? report.sent : 0;
    });
    while (!isOver) {
      loaded.push(await ask());
    }
    await attack;
  }
  const [before, during] = [percentile99(idle), percentile99(loaded)];
  return {
    name: `${service}: p99 of another user's request while ${CLIENTS} hostile clients work`,
    value: during,
    unit: "ms",
    aim: "≤ 3 × idle",
    peer: { name: "idle", value: before },
    ratio: during / before,
    note: `${loaded.length} requests beside ${hostile} hostile ones, median ${median(loaded).toFixed(1)} ms, idle ${median(idle).toFixed(1)} ms; clients, ingress and database share the processors`,
  };
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))] ?? 0;
}
