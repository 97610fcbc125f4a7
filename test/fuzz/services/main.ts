import { join } from "node:path";

import { createTestCluster } from "@swath/testing";

import { createDeploymentFetch } from "../../../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../../../cli/targets/embedded/state/paths.ts";
import { createRandom } from "../make-stream.ts";
import { type ApiDocument, type HostileRequest, listOperations, makeRequest } from "./make-request.ts";
import { createPodWatch } from "./watch-pod.ts";

const VARIABLES = { USE_TLS: "false", OPEN_INGRESS: "true" };
const MAX_STALL_MS = 50;
/** Memory that a service may keep beyond what it had. */
const MAX_KEPT_BYTES = 300 << 20;
const TIMEOUT_MS = 60_000;
/** Answers of a service that are no fault: what it does not offer, and what it refuses to hold. */
const HARMLESS = new Set([501, 507]);

interface Finding {
  readonly service: string;
  readonly what: string;
  readonly request: HostileRequest | undefined;
}

/**
 * Fuzzes every service of a platform that is really deployed, from its own OpenAPI document: each operation with hostile values, as a user who
 * is logged in. Gives what is wrong: answers of 5xx, stalls of the event loop, exits, errors that nothing caught, memory that stays.
 */
export async function fuzzServices(
  seconds: number,
  seed: number,
  only: readonly string[],
): Promise<readonly Finding[]> {
  const cluster = await createTestCluster(VARIABLES);
  const findings: Finding[] = [];
  try {
    const applied = await cluster.apply();
    if (applied.status !== 0) {
      throw new Error(`the platform could not be deployed: ${applied.stdout}${applied.stderr}`);
    }
    const send = createDeploymentFetch(cluster.domain, { address: "127.0.0.1" });
    const url = (service: string, path: string) => `http://${service}.${cluster.domain}:${cluster.port}${path}`;
    const form = { client_id: "admin-cli", grant_type: "password", username: "eric", password: "changeme" };
    const login = await send(url("identity", "/realms/master/protocol/openid-connect/token"), {
      method: "POST",
      body: new URLSearchParams(form),
    });
    const { access_token: token } = (await login.json()) as { access_token?: string };
    if (token === undefined) {
      throw new Error(`the login of the fuzzer failed with ${login.status}`);
    }
    const { run } = clusterPaths(cluster.name, cluster.env);
    const pods = (await cluster.pods()).filter(({ pid }) => pid !== undefined);
    const documents: [string, (typeof pods)[number], ApiDocument][] = [];
    for (const pod of pods.filter(({ workload }) => only.length === 0 || only.includes(workload))) {
      const response = await send(url(pod.workload, "/openapi.json")).catch(() => undefined);
      // Pages answer any path.
      if (response?.ok === true && response.headers.get("content-type")?.includes("json") === true) {
        documents.push([pod.workload, pod, (await response.json()) as ApiDocument]);
      }
    }
    const share = (seconds * 1000) / Math.max(1, documents.length);
    for (const [service, pod, document] of documents) {
      const random = createRandom(seed);
      const watch = createPodWatch(join(run, "pods", pod.name), pod.pid as number);
      const { residentBytes: before } = await watch.read();
      const stalls: { readonly ms: number; readonly request: HostileRequest }[] = [];
      const report = (what: string, request?: HostileRequest) => findings.push({ service, what, request });
      const operations = listOperations(document);
      const until = performance.now() + share;
      let requests = 0;
      let faults = 0;
      for (; operations.length > 0 && performance.now() < until; requests += 1) {
        const request = makeRequest(random, operations[requests % operations.length]!);
        const { status, text } = await perform(send, url(service, request.path), request, token);
        if (status === undefined || (status >= 500 && !HARMLESS.has(status))) {
          report(`${status ?? "no answer"} ${text.slice(0, 200)}`, request);
        }
        try {
          const reading = await watch.read();
          if (reading.faults > faults) {
            report("an error that nothing caught", request);
          }
          faults = reading.faults;
          stalls.push({ ms: reading.stallMs, request });
        } catch (error) {
          report(`the process ended: ${(error as Error).message}`, request);
          break;
        }
      }
      stalls.sort((a, b) => b.ms - a.ms);
      process.stdout.write(`${service}: ${requests} requests of ${operations.length} operations; worst stalls:\n`);
      for (const { ms, request } of stalls.slice(0, 5)) {
        process.stdout.write(`  ${ms.toFixed(0).padStart(5)} ms  ${describeRequest(request)}\n`);
      }
      for (const { ms, request } of stalls.filter((stall) => stall.ms > MAX_STALL_MS).slice(0, 5)) {
        report(`the event loop stood still for ${ms.toFixed(0)} ms`, request);
      }
      const after = await watch.read().catch(() => undefined);
      if (after !== undefined && after.residentBytes - before > MAX_KEPT_BYTES) {
        report(`keeps ${((after.residentBytes - before) / 2 ** 20).toFixed(0)} MiB`);
      }
    }
    for (const pod of await cluster.pods()) {
      if (pod.restarts > 0) {
        findings.push({ service: pod.workload, what: `was started again ${pod.restarts} times`, request: undefined });
      }
    }
  } finally {
    await cluster.close().catch((error: unknown) => {
      findings.push({ service: "platform", what: (error as Error).message.slice(0, 2000), request: undefined });
    });
  }
  return findings;
}

async function perform(
  send: ReturnType<typeof createDeploymentFetch>,
  url: string,
  { method, type, body }: HostileRequest,
  token: string | undefined,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  try {
    const response = await send(url, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(type !== undefined && { "content-type": type }),
      },
      ...(body !== undefined && method !== "GET" && method !== "HEAD" && { body }),
    });
    // Streams of events do not end.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = isStream ? "" : await response.text();
    await response.body?.cancel().catch(() => {});
    return { status: response.status, text };
  } catch (error) {
    return { status: undefined, text: String((error as Error).cause ?? error) };
  }
}

export function describeRequest({ method, path, type, body }: HostileRequest): string {
  return `${method} ${path.slice(0, 200)}${body === undefined ? "" : ` ${type ?? ""} ${body.length} characters: ${body.slice(0, 100)}`}`;
}
