import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { applyObjects, createNamespace, kubectl, mustKubectl } from "@swath/testing/kubernetes";

const NAMESPACE = "swath-test-load";

/** A request that the load repeats. */
export interface LoadTarget {
  readonly url: string;
  readonly host: string;
}

export interface LoadResult {
  readonly sent: number;
  /** What did not answer with a status below 500, a few examples. */
  readonly failures: readonly string[];
  /** Milliseconds from the first failed request of each host to the next one that was answered, the longest of them. */
  readonly gaps: Readonly<Record<string, number>>;
}

/** Runs in the pod: a few clients that keep connections open, as an ingress controller does, until it is asked to stop. */
const PROGRAM = `
const { request, Agent } = require("node:http");
const targets = JSON.parse(process.env.TARGETS);
const agent = new Agent({ keepAlive: true, timeout: 3000 });
let sent = 0, stopping = false; const failures = []; const gaps = {};
function once({ url, host }, isAgain) {
  return new Promise((resolve) => {
    const fail = (why) => resolve(why);
    const outgoing = request(url, { agent, headers: { host }, timeout: 15000 }, (response) => {
      response.resume();
      response.on("error", (error) => fail(error.message));
      response.on("end", () => resolve(response.statusCode < 500 ? undefined : "status " + response.statusCode));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer")));
    outgoing.on("error", (error) => {
      // A kept connection that ends before the answer begins: every proxy asks again on another one.
      if (outgoing.reusedSocket && !isAgain && ["ECONNRESET", "EPIPE"].includes(error.code)) {
        once({ url, host }, true).then(resolve);
      } else {
        fail(error.message);
      }
    });
    outgoing.end();
  });
}
async function client(target) {
  let failing;
  while (!stopping) {
    const began = Date.now();
    const why = await once(target);
    sent += 1;
    if (why !== undefined) {
      failing ??= began;
      failures.push(target.host + ": " + why);
    } else if (failing !== undefined) {
      gaps[target.host] = Math.max(gaps[target.host] ?? 0, Date.now() - failing);
      failing = undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
process.on("SIGTERM", () => { stopping = true; });
console.log("started");
const asked = new Promise((resolve) => setInterval(() => { if (stopping) resolve(); }, 100));
Promise.all([asked, ...targets.flatMap((target) => [client(target), client(target)])]).then(() => {
  console.log(JSON.stringify({ sent, failures: failures.slice(0, 20), count: failures.length, gaps }));
  process.exit(0);
});
setInterval(() => { try { require("node:fs").accessSync("/tmp/stop"); stopping = true; } catch {} }, 200);
`;

export interface Load {
  readonly stop: () => Promise<LoadResult>;
  /** One request from there, and what is answered. */
  readonly send: (url: string, headers: Readonly<Record<string, string>>) => Promise<string>;
}

/** Sends requests from inside the cluster, in the place of the ingress controller, until `stop`. */
export async function startLoad(
  t: TestContext,
  image: string,
  targets: readonly LoadTarget[],
  /** Where it runs; any node when left out. */
  node?: string,
): Promise<Load> {
  // A test that fails leaves nothing that makes the others slow.
  t.after(() => kubectl(["delete", "namespace", NAMESPACE, "--ignore-not-found"]));
  await createNamespace(NAMESPACE);
  await applyObjects([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "load", namespace: NAMESPACE, labels: { "app.kubernetes.io/name": "ingress-nginx" } },
      spec: {
        restartPolicy: "Never",
        ...(node !== undefined && { nodeName: node }),
        containers: [
          {
            name: "load",
            image,
            imagePullPolicy: "IfNotPresent",
            command: ["node", "-e", PROGRAM],
            env: [{ name: "TARGETS", value: JSON.stringify(targets) }],
          },
        ],
      },
    },
  ]);
  await mustKubectl(["wait", "-n", NAMESPACE, "--for=condition=Ready", "pod/load", "--timeout=300s"]);
  const inside = (program: string) => mustKubectl(["exec", "-n", NAMESPACE, "load", "--", "node", "-e", program]);
  return {
    send: (url, headers) =>
      inside(
        `require("node:http").get(${JSON.stringify(url)}, { headers: ${JSON.stringify(headers)} }, (r) => r.pipe(process.stdout))`,
      ),
    stop: async () => {
      await inside("require('fs').writeFileSync('/tmp/stop','')");
      for (;;) {
        const log = await mustKubectl(["logs", "-n", NAMESPACE, "load"]);
        const line = log.split("\n").find((one) => one.startsWith("{"));
        if (line !== undefined) {
          return JSON.parse(line) as LoadResult;
        }
        await sleep(500);
      }
    },
  };
}
