// The whole platform under use while its pods are killed: `npm run soak -- --minutes 30`. On loopback only, ends by itself.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { type TestCluster, createTestCluster } from "@swath/testing";

import { median } from "../../bench/median.ts";
import { createDeploymentFetch } from "../../cli/targets/deployment-fetch.ts";
import { clusterPaths } from "../../cli/targets/embedded/state/paths.ts";
import { findMarkedProcesses } from "../../cli/targets/embedded/supervisor/processes.ts";
import { formatBytes } from "../../cli/view/bytes.ts";
import type { Actor } from "./actors/actor.ts";
import { createBrowseActor } from "./actors/browse.ts";
import { createJobActor } from "./actors/jobs.ts";
import { createLoginActor } from "./actors/login.ts";
import { createManifestActor } from "./actors/manifests.ts";
import { createMapActor } from "./actors/maps.ts";
import { createNotebookActor } from "./actors/notebooks.ts";
import { createUploadActor } from "./actors/objects.ts";
import { createRecordActor } from "./actors/records.ts";
import { createRegistrationActor } from "./actors/registrations.ts";
import { createRecorder } from "./record.ts";
import { createVirtualUser } from "./virtual-user.ts";

/** All components are there by default. */
const VARIABLES = { USE_TLS: "false", OPEN_INGRESS: "true", STAGEOUT_TARGET: "objstore" };
const CREATE_ACTORS = [
  createLoginActor,
  createUploadActor,
  createJobActor,
  createBrowseActor,
  createRecordActor,
  createRegistrationActor,
  createManifestActor,
  createMapActor,
  createNotebookActor,
];
const SECONDS_BETWEEN_KILLS = [10, 30] as const;

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "30" }, "no-kills": { type: "boolean", default: false } },
});
const minutes = Math.min(120, Math.max(0.2, Number(values.minutes) || 30));

const cluster = await createTestCluster(VARIABLES);
try {
  const applied = await cluster.apply();
  if (applied.status !== 0) {
    throw new Error(`the platform could not be deployed: ${applied.stdout}${applied.stderr}`);
  }
  process.exitCode = await soak(cluster);
} finally {
  await cluster.close();
}

async function soak({ domain, port, swath, name, env }: TestCluster): Promise<number> {
  const { id } = clusterPaths(name, env);
  const recorder = createRecorder();
  const place = {
    virtualUser: createVirtualUser(createDeploymentFetch(domain, { address: "127.0.0.1" }), recorder),
    recorder,
    url: (service: string, path: string) => `http://${service}.${domain}:${port}${path}`,
    password: "changeme",
  };
  const actors = CREATE_ACTORS.map((create) => create(place));
  const end = new AbortController();
  const kills = new Map<string, number>();
  const memory: number[] = [];
  const work = [
    ...actors.map((actor) => keepActing(actor, end.signal)),
    ...(values["no-kills"] ? [] : [keepKilling(cluster, kills, end.signal)]),
    (async () => {
      while (!end.signal.aborted) {
        memory.push(readMemory(id));
        await sleep(15_000, undefined, { signal: end.signal }).catch(() => {});
      }
    })(),
  ];
  await sleep(minutes * 60_000);
  end.abort();
  await Promise.all(work);
  const { requests, failures } = recorder.seen();
  const settled = [];
  for (const actor of actors) {
    settled.push(`${actor.name}: ${await actor.settle()}`);
  }
  memory.push(readMemory(id));
  const pods = JSON.parse((await swath("pods", "-o", "json", name)).stdout) as { phase: string; ready: boolean }[];
  const { broken } = recorder.seen();
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    [
      `${minutes} minutes, ${requests} requests, ${[...kills.values()].reduce((a, b) => a + b, 0)} pods killed (${list(kills)})`,
      `failures seen by clients: ${failed} (${((100 * failed) / Math.max(1, requests)).toFixed(2)} %) ${list(failures)}`,
      ...settled,
      `memory of all pods, medians of tenths of the time: ${mediansOfTenths(memory).map(formatBytes).join(", ")}`,
      `pods at the end: ${pods.filter(({ phase, ready }) => phase === "Completed" || ready).length} of ${pods.length} ready or completed`,
      broken.length === 0
        ? "nothing that was acknowledged is lost"
        : `BROKEN (${broken.length}):\n  ${broken.slice(0, 30).join("\n  ")}`,
    ].join("\n"),
  );
  return broken.length === 0 ? 0 : 1;
}

/** Single values say little: a pod that was just killed has none of its memory yet. */
function mediansOfTenths(values: readonly number[]): readonly number[] {
  const length = Math.ceil(values.length / 10);
  return Array.from({ length: 10 }, (_, index) => values.slice(index * length, (index + 1) * length))
    .filter((tenth) => tenth.length > 0)
    .map(median);
}

async function keepActing({ act, pauseMs }: Actor, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await act();
    await sleep(pauseMs);
  }
}

/** kill -9 of a random pod, again and again, PostgreSQL and the ingress among them. */
async function keepKilling({ pods }: TestCluster, kills: Map<string, number>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [least, most] = SECONDS_BETWEEN_KILLS;
    await sleep((least + Math.random() * (most - least)) * 1000, undefined, { signal }).catch(() => {});
    if (signal.aborted) {
      return;
    }
    const running = (await pods()).filter(({ pid, ready }) => pid !== undefined && ready);
    const victim = running[Math.floor(Math.random() * running.length)];
    if (victim?.pid !== undefined) {
      kills.set(victim.workload, (kills.get(victim.workload) ?? 0) + 1);
      process.kill(victim.pid, "SIGKILL");
    }
  }
}

/** Memory of the cluster's processes (proportional set size, bytes). */
function readMemory(clusterId: string): number {
  return findMarkedProcesses(clusterId)
    .map(({ pid }) => {
      try {
        const [, kibibytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
        return Number(kibibytes ?? 0) * 1024;
      } catch {
        // It has ended meanwhile.
        return 0;
      }
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
}
