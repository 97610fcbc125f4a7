import { join } from "node:path";

import { type TestCluster, createTestCluster } from "@swath/testing";

import { createDeploymentFetch, type Fetch } from "../../../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../../../cli/targets/embedded/state/paths.ts";
import { type Finding, fuzzService } from "./fuzz-service.ts";
import type { ApiDocument } from "./make-request.ts";
import { createPodWatch } from "./watch-pod.ts";

const VARIABLES = { USE_TLS: "false", OPEN_INGRESS: "true" };
/** Without an operator many requests would end at their first check. */
const USERS = ["eric", "admin"] as const;

interface FuzzOptions {
  /** For all services together. */
  readonly seconds: number;
  readonly seed: number;
  /** Services to fuzz; all when empty. */
  readonly only?: readonly string[];
  /** Processor time that the event loop may take at once; 50 when left out. */
  readonly maxStallMs?: number;
  readonly print: (line: string) => void;
}

/** Deploys a platform and fuzzes its services. */
export async function fuzzServices(options: FuzzOptions): Promise<readonly Finding[]> {
  const cluster = await createTestCluster(VARIABLES);
  const findings: Finding[] = [];
  try {
    const applied = await cluster.apply();
    if (applied.status !== 0) {
      throw new Error(`the platform could not be deployed: ${applied.stdout}${applied.stderr}`);
    }
    findings.push(...(await fuzzCluster(cluster, options)));
  } finally {
    await cluster.close().catch((error: unknown) => {
      findings.push({ service: "platform", what: (error as Error).message.slice(0, 2000) });
    });
  }
  return findings;
}

/**
 * Fuzzes every service of a deployed platform that has an OpenAPI document: each operation with hostile values, as a user and as an
 * operator who are logged in. Returns what is wrong: answers of 5xx, stalls of the event loop, exits, errors that nothing caught, memory that stays.
 */
export async function fuzzCluster(
  cluster: Pick<TestCluster, "name" | "domain" | "port" | "env" | "pods">,
  { seconds, seed, only = [], maxStallMs = 50, print }: FuzzOptions,
): Promise<readonly Finding[]> {
  const send = createDeploymentFetch(cluster.domain, { address: "127.0.0.1" });
  const urlOf = (service: string) => `http://${service}.${cluster.domain}:${cluster.port}`;
  const { run } = clusterPaths(cluster.name, cluster.env);
  const before = await cluster.pods();
  const documents: { readonly pod: (typeof before)[number]; readonly document: ApiDocument }[] = [];
  for (const pod of before.filter(({ workload }) => only.length === 0 || only.includes(workload))) {
    const response = await send(`${urlOf(pod.workload)}/openapi.json`).catch(() => undefined);
    // Pages answer any path.
    if (response?.ok === true && response.headers.get("content-type")?.includes("json") === true) {
      documents.push({ pod, document: (await response.json()) as ApiDocument });
    }
  }
  if (documents.length === 0) {
    throw new Error("no service of the platform has an OpenAPI document to make requests from");
  }
  const findings: Finding[] = [];
  for (const { pod, document } of documents) {
    const found = await fuzzService({
      service: pod.workload,
      user: USERS[0],
      document,
      // Tokens live for minutes.
      tokens: await Promise.all(USERS.map(async (user) => logIn(send, urlOf("identity"), user))),
      url: urlOf(pod.workload),
      send,
      watch: createPodWatch(join(run, "pods", pod.name)),
      seed,
      milliseconds: (seconds * 1000) / documents.length,
      maxStallMs,
      print,
    });
    findings.push(...found);
  }
  const restartsBefore = new Map(before.map(({ name, restarts }) => [name, restarts]));
  for (const { name, workload, restarts } of await cluster.pods()) {
    const more = restarts - (restartsBefore.get(name) ?? 0);
    if (more > 0) {
      findings.push({ service: workload, what: `was started again ${more} times` });
    }
  }
  return findings;
}

async function logIn(send: Fetch, url: string, username: string): Promise<string> {
  const form = { client_id: "admin-cli", grant_type: "password", username, password: "changeme" };
  const response = await send(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) {
    throw new Error(`the login of ${username} failed with ${response.status}`);
  }
  return token;
}
