import { join } from "node:path";

import { type TestCluster, createTestCluster } from "@swath/testing";

import { createDeploymentFetch } from "../../../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../../../cli/targets/embedded/state/paths.ts";
import { type Finding, fuzzService } from "./fuzz-service.ts";
import { type Target, USERS, createPlatform, createUser, findTargets } from "./targets.ts";
import { createPodWatch, readServedRoutes } from "./watch-pod.ts";

const VARIABLES = { USE_TLS: "false", OPEN_INGRESS: "true" };
const VARIABLES_OF_B = { ...VARIABLES, PLATFORM_VARIANT: "B", REQUIRE_REGISTRATION_API: "true" };

interface FuzzOptions {
  /** For all services together. */
  readonly seconds: number;
  readonly seed: number;
  /** Services to fuzz; all when empty. */
  readonly only?: readonly string[];
  /** A when left out. */
  readonly variant?: "A" | "B";
  /** Processor time that the event loop may take at once; 50 when left out. */
  readonly maxStallMs?: number;
  readonly print: (line: string) => void;
}

/** Deploys a platform and fuzzes its services. */
export async function fuzzServices(options: FuzzOptions): Promise<readonly Finding[]> {
  const cluster = await createTestCluster(options.variant === "B" ? VARIABLES_OF_B : VARIABLES);
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
 * Fuzzes every service of a deployed platform: each operation of its OpenAPI document and of what its management listener says that it
 * serves, with hostile values, as a user, as an operator and as nobody. Returns what is wrong: answers of 5xx, stalls of the event loop, exits, errors that nothing caught, memory that stays.
 */
export async function fuzzCluster(
  cluster: Pick<TestCluster, "name" | "domain" | "port" | "env" | "pods">,
  { seconds, seed, only = [], maxStallMs = 50, print }: FuzzOptions,
): Promise<readonly Finding[]> {
  const send = createDeploymentFetch(cluster.domain, { address: "127.0.0.1" });
  const { run } = clusterPaths(cluster.name, cluster.env);
  const before = await cluster.pods();
  const platform = createPlatform(cluster, send, cluster.env["PLATFORM_VARIANT"] === "B" ? "B" : "A");
  if (platform.variant === "B") {
    await createUser(platform);
  }
  const found: { readonly pod: (typeof before)[number]; readonly target: Target }[] = [];
  const isAsked = ({ workload, phase }: (typeof before)[number]) =>
    phase === "Running" && (only.length === 0 || only.includes(workload));
  // The object store last: its root user takes away what other services have there.
  const last = ({ workload }: (typeof before)[number]) => (workload === "objstore" ? 1 : 0);
  const findings: Finding[] = [];
  for (const pod of before.filter(isAsked).toSorted((a, b) => last(a) - last(b))) {
    const served = await readServedRoutes(join(run, "pods", pod.name));
    const { targets, missing } = await findTargets(platform, pod.workload, served);
    found.push(...targets.map((target) => ({ pod, target })));
    if (missing !== undefined) {
      findings.push({ service: pod.workload, what: missing });
      print(`${pod.workload}: found: ${missing}`);
    }
  }
  for (const { pod, target } of found) {
    const directory = join(run, "pods", pod.name);
    findings.push(
      ...(await fuzzService({
        ...target,
        user: USERS[0],
        socketPath: join(directory, target.service === "objstore-console" ? "console.sock" : "http.sock"),
        send,
        watch: createPodWatch(directory),
        seed,
        milliseconds: (seconds * 1000) / found.length,
        maxStallMs,
        print,
      })),
    );
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
