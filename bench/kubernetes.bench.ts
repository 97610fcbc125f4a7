import { setTimeout as sleep } from "node:timers/promises";

import { mustKubectl } from "@swath/testing/kubernetes";

import { openDeployment, whyNoDeployment } from "../test/kubernetes/support/deployment.ts";
import type { BenchRow } from "./types.ts";

const VARIABLES = {
  OPEN_INGRESS: "true",
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "true",
  STAGEOUT_TARGET: "objstore",
};

/** The whole platform on the cluster of KUBECONFIG, with the image of SWATH_IMAGE: from apply to ready, and what it takes. */
export async function bench(): Promise<BenchRow[]> {
  const missing = await whyNoDeployment();
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
    const memory = await readMemory();
    return [
      { name: "Kubernetes: apply to all pods ready, empty cluster", value: empty, unit: "s", note: "one run" },
      { name: "Kubernetes: apply with nothing to change", value: unchanged, unit: "s", note: "one run" },
      {
        name: "Kubernetes: memory of all pods, idle",
        value: memory.reduce((sum, { bytes }) => sum + bytes, 0) / 2 ** 20,
        unit: "MiB",
        note: memory.map(({ name, bytes }) => `${name} ${Math.round(bytes / 2 ** 20)}`).join(", "),
      },
    ];
  } finally {
    await deployment.close();
  }
}

/** Working set of every container of the platform, as the nodes measure it. */
async function readMemory(): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  const nodes = (await mustKubectl(["get", "nodes", "-o", "name"])).trim().split("\n");
  const namespaces = ["storage", "um", "rm", "zoo"];
  const found: { name: string; bytes: number }[] = [];
  for (const node of nodes) {
    const path = `/api/v1/nodes/${node.replace("node/", "")}/proxy/stats/summary`;
    const { pods } = JSON.parse(await mustKubectl(["get", "--raw", path])) as {
      pods: {
        podRef: { namespace: string };
        containers?: { name: string; memory?: { workingSetBytes?: number } }[];
      }[];
    };
    for (const { podRef, containers = [] } of pods) {
      if (namespaces.includes(podRef.namespace)) {
        found.push(...containers.map(({ name, memory }) => ({ name, bytes: memory?.workingSetBytes ?? 0 })));
      }
    }
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
