import { setTimeout as sleep } from "node:timers/promises";

import { mustKubectl } from "@swath/testing/kubernetes";

import { type Deployment, openDeployment, findDeploymentSkipReason } from "../test/kubernetes/support/deployment.ts";
import { testPackage } from "../test/kubernetes/support/package.ts";
import { openProcedure } from "../test/kubernetes/support/procedure.ts";
import type { BenchRow } from "./types.ts";

const VARIABLES = {
  OPEN_INGRESS: "true",
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "true",
  STAGEOUT_TARGET: "objstore",
};
const NAMESPACES = ["storage", "um", "rm", "zoo", "demo"];
const MEBIBYTE = 2 ** 20;

/**
 * The whole platform on the cluster of KUBECONFIG, with the image of SWATH_IMAGE: from apply to ready, and what its containers take
 * beside what they ask for.
 */
export async function bench(): Promise<BenchRow[]> {
  const missing = await findDeploymentSkipReason();
  if (missing !== undefined) {
    console.error(`skipped: ${missing}`);
    return [];
  }
  const deployment = await openDeployment(VARIABLES);
  const apply = async () => {
    const started = performance.now();
    const { status, stdout, stderr } = await deployment.apply();
    if (status !== 0) {
      throw new Error(`apply failed: ${stdout}${stderr}`);
    }
    return (performance.now() - started) / 1000;
  };
  try {
    const empty = await apply();
    const unchanged = await apply();
    await sleep(20_000);
    const requests = await readRequests();
    const idle = await readMemory();
    const busy = await readPeak(deployment);
    const sum = (memory: ReadonlyMap<string, number>) => [...memory.values()].reduce((total, one) => total + one, 0);
    const perContainer = [...requests].map(([name, { memory, cpu }]) => {
      const [now, peak] = [idle, busy].map((memories) => Math.round((memories.get(name) ?? 0) / MEBIBYTE));
      return `${name} ${now}/${peak} of ${Math.round(memory / MEBIBYTE)} (${cpu})`;
    });
    return [
      { name: "Kubernetes: apply to all pods ready, empty cluster", value: empty, unit: "s", note: "one run" },
      { name: "Kubernetes: apply with nothing to change", value: unchanged, unit: "s", note: "one run" },
      { name: "Kubernetes: memory of all pods, idle", value: sum(idle) / MEBIBYTE, unit: "MiB" },
      {
        name: "Kubernetes: memory of all pods, most under the quick procedure",
        value: sum(busy) / MEBIBYTE,
        unit: "MiB",
        note: `idle/most of requested MiB (CPU): ${perContainer.join(", ")}`,
      },
    ];
  } finally {
    await deployment.close();
  }
}

/** The most that each container took while jobs ran. */
async function readPeak(deployment: Deployment): Promise<ReadonlyMap<string, number>> {
  const { deployPackage, execute, ended } = openProcedure(() => deployment);
  const most = new Map<string, number>();
  const controller = new AbortController();
  const watching = (async () => {
    while (!controller.signal.aborted) {
      for (const [name, bytes] of await readMemory()) {
        most.set(name, Math.max(most.get(name) ?? 0, bytes));
      }
      await sleep(2000);
    }
  })();
  try {
    await deployPackage(testPackage(process.env["SWATH_IMAGE"] ?? ""));
    for (let job = 0; job < 3; job += 1) {
      await ended(await execute("write-item", `job ${job}`));
    }
  } finally {
    controller.abort();
    await watching;
  }
  return most;
}

/** What each workload's container asks for: memory in bytes, CPU as it is written. */
async function readRequests(): Promise<ReadonlyMap<string, { readonly memory: number; readonly cpu: string }>> {
  const text = await mustKubectl([
    "get",
    "deployments,statefulsets",
    "-A",
    "-l",
    "app.kubernetes.io/part-of=swath",
    "-o",
    "json",
  ]);
  const { items } = JSON.parse(text) as {
    items: {
      metadata: { name: string };
      spec: {
        template: { spec: { containers: { resources: { requests: { memory: string; cpu: string } } }[] } };
      };
    }[];
  };
  return new Map(
    items.map(({ metadata, spec }) => {
      const { memory, cpu } = spec.template.spec.containers[0]?.resources.requests ?? { memory: "0", cpu: "0" };
      const [, amount = "0", unit = ""] = /^(\d+)(\w*)$/.exec(memory) ?? [];
      const factor = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }[unit] ?? 1;
      return [metadata.name, { memory: Number(amount) * factor, cpu }];
    }),
  );
}

/** Working set of every container of the platform in bytes, as the nodes measure it. */
async function readMemory(): Promise<ReadonlyMap<string, number>> {
  const nodes = (await mustKubectl(["get", "nodes", "-o", "name"])).trim().split("\n");
  const found = new Map<string, number>();
  for (const node of nodes) {
    const path = `/api/v1/nodes/${node.replace("node/", "")}/proxy/stats/summary`;
    const { pods } = JSON.parse(await mustKubectl(["get", "--raw", path])) as {
      pods: {
        podRef: { namespace: string };
        containers?: { name: string; memory?: { workingSetBytes?: number } }[];
      }[];
    };
    for (const { podRef, containers = [] } of pods) {
      for (const { name, memory } of NAMESPACES.includes(podRef.namespace) ? containers : []) {
        found.set(name, (found.get(name) ?? 0) + (memory?.workingSetBytes ?? 0));
      }
    }
  }
  return found;
}
