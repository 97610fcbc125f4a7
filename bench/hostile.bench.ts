// Cheap requests of a user while 16 clients send hostile ones to the same service, as `npm run fuzz` makes them, on a deployed platform.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createTestCluster } from "@swath/testing";

import { createDeploymentFetch } from "../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../cli/targets/embedded/state/paths.ts";
import { createRandom } from "../test/fuzz/make-stream.ts";
import { pick } from "../test/fuzz/services/hostile-values.ts";
import { KnownIds } from "../test/fuzz/services/known-ids.ts";
import { makeRequest } from "../test/fuzz/services/make-request.ts";
import { type Target, createPlatform, findTargets } from "../test/fuzz/services/targets.ts";
import type { BenchRow } from "./types.ts";

const CLIENTS = 16;
const SEED = 7;
const IDLE_REQUESTS = 400;
const HOSTILE_MS = 15_000;

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

/** Takes about five minutes. */
export async function bench(): Promise<BenchRow[]> {
  const cluster = await createTestCluster({ USE_TLS: "false", OPEN_INGRESS: "true" });
  try {
    const { status, stdout, stderr } = await cluster.apply();
    if (status !== 0) {
      throw new Error(`the platform could not be deployed: ${stdout}${stderr}`);
    }
    const platform = createPlatform(cluster, createDeploymentFetch(cluster.domain, { address: "127.0.0.1" }));
    const { run } = clusterPaths(cluster.name, cluster.env);
    const rows: BenchRow[] = [];
    for (const { name, workload } of await cluster.pods()) {
      const directory = join(run, "pods", name);
      if (existsSync(join(directory, "management.sock")) && workload !== "ingress") {
        for (const target of await findTargets(platform, workload, directory)) {
          const path = CHEAP[target.service];
          if (path !== undefined) {
            rows.push(await measure(platform.send, target, path, await platform.logIn("bob")));
          }
        }
      }
    }
    return rows;
  } finally {
    await cluster.close();
  }
}

type Send = ReturnType<typeof createDeploymentFetch>;

async function measure(send: Send, target: Target, path: string, token: string): Promise<BenchRow> {
  const ask = async (): Promise<number> => {
    const begun = performance.now();
    const response = await send(`${target.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return performance.now() - begun;
  };
  const idle: number[] = [];
  for (let request = 0; request < IDLE_REQUESTS; request += 1) {
    idle.push(await ask());
  }
  const end = AbortSignal.timeout(HOSTILE_MS);
  let hostile = 0;
  const attack = async (client: number) => {
    const random = createRandom(SEED + client);
    const ids = new KnownIds("eric", target.kept);
    for (; !end.aborted; hostile += 1) {
      const request = makeRequest(random, pick(random, target.operations), ids, target.vocabulary);
      const { method, type, body } = request;
      await send(`${target.url}${request.path}`, {
        method,
        redirect: "manual",
        signal: end,
        headers: {
          ...request.headers,
          ...(type !== undefined && { "content-type": type }),
          ...(await pick(random, target.credentials)(request, target.url)),
        },
        ...(body !== undefined && method !== "GET" && method !== "HEAD" && { body }),
      })
        .then(async (response) => {
          // Streams of events do not end.
          const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
          await (isStream ? response.body?.cancel() : response.arrayBuffer());
        })
        // Refused connections are part of it; the fuzz run looks at answers.
        .catch(() => {});
    }
  };
  const attacks = Array.from({ length: CLIENTS }, (_, client) => attack(client));
  const loaded: number[] = [];
  while (!end.aborted) {
    loaded.push(await ask());
  }
  await Promise.all(attacks);
  const [before, during] = [percentile99(idle), percentile99(loaded)];
  return {
    name: `${target.service}: p99 of another user's request while ${CLIENTS} hostile clients work`,
    value: during,
    unit: "ms",
    aim: "≤ 3 × idle",
    peer: { name: "idle", value: before },
    ratio: during / before,
    note: `${path}; ${loaded.length} requests beside ${hostile} hostile ones; clients, ingress and database share the processors`,
  };
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))] ?? 0;
}
