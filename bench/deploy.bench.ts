import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { createTestCluster, runCommand, dummyServiceOnly } from "@swath/testing";

import { medianSeconds } from "./median.ts";
import { readPss } from "./pss.ts";
import type { BenchRow } from "./types.ts";

const TIMES = 5;
/** What the deployment tool itself brings: PostgreSQL, the dummy service, the ingress. */
const FOUNDATION = {
  USE_TLS: "false",
  OPEN_INGRESS: "true",
  ...dummyServiceOnly,
};

/** Time from `apply` to every pod ready, and what the cluster needs when nobody uses it. */
export async function bench(): Promise<BenchRow[]> {
  const cluster = await createTestCluster(FOUNDATION);
  const apply = async () => {
    const { status, stdout, stderr } = await cluster.apply();
    if (status !== 0) {
      throw new Error(`apply failed: ${stdout}${stderr}`);
    }
  };
  try {
    const cold = await medianSeconds(TIMES, apply, () => cluster.swath("cluster", "delete", cluster.name, "--yes"));
    const warm = await medianSeconds(TIMES, apply, () => cluster.swath("deploy", "delete", cluster.name));
    const unchanged = await medianSeconds(TIMES, apply);
    await sleep(5000);
    const memory = await memoryOf(cluster);
    const template = await medianSeconds(TIMES, async () => {
      const main = join(import.meta.dirname, "../cli/main.ts");
      const { status, stderr } = await runCommand(
        process.execPath,
        [main, "deploy", "template", cluster.name, cluster.domain],
        {
          env: cluster.env,
        },
      );
      if (status !== 0) {
        throw new Error(`template failed: ${stderr}`);
      }
    });
    return [
      {
        name: "apply to all pods ready, empty state",
        value: cold,
        unit: "s",
        aim: "≤ 6 s",
        note: `median of ${TIMES}`,
      },
      {
        name: "apply to all pods ready, volumes kept",
        value: warm,
        unit: "s",
        aim: "≤ 2.5 s",
        note: `median of ${TIMES}`,
      },
      { name: "apply with nothing to change", value: unchanged, unit: "s", aim: "≤ 0.7 s", note: `median of ${TIMES}` },
      { name: "template, whole process", value: template, unit: "s", aim: "≤ 0.5 s", note: `median of ${TIMES}` },
      {
        name: "idle memory of supervisor, ingress and dummy service",
        value: memory / 2 ** 20,
        unit: "MiB",
        aim: "≤ 250 MB",
        note: "proportional set size",
      },
    ];
  } finally {
    await cluster.close();
  }
}

async function memoryOf(cluster: Awaited<ReturnType<typeof createTestCluster>>): Promise<number> {
  const pods = (await cluster.pods()).filter(({ workload }) => workload !== "postgres");
  const log = readFileSync(join(cluster.directory, "logs/supervisor.log"), "utf8").trim().split("\n");
  const supervisor = JSON.parse(log.findLast((line) => line.includes("supervisor started")) ?? "{}") as { pid: number };
  return [supervisor.pid, ...pods.map(({ pid }) => pid ?? 0)].reduce((sum, pid) => sum + readPss(pid), 0);
}
