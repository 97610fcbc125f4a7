import { setTimeout as sleep } from "node:timers/promises";

import type { PodStatus } from "../../pod-status.ts";
import type { RollOutProgress } from "../apply/roll-out.ts";
import type { Connection } from "../api/connection.ts";
import { listObjects } from "../api/objects.ts";
import { selectApplied } from "../state/names.ts";
import type { LivePod } from "./live-pod.ts";
import { toPodStatus } from "./pod-status.ts";
import { type WarningReader, createWarningReader } from "./warnings.ts";

const POD = { apiVersion: "v1", kind: "Pod" } as const;
/** Milliseconds between two looks. */
const INTERVAL = 700;

/** A workload as the plan names it, for those that have no pod yet. */
interface PlannedWorkload {
  readonly name: string;
  readonly namespace: string;
  readonly component: string;
  readonly kind: "service" | "task";
}

export async function listLivePods(connection: Connection, clusterName: string): Promise<readonly LivePod[]> {
  const pods = await listObjects(connection, POD, { labels: selectApplied(clusterName) });
  return (pods as unknown as LivePod[]).toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

/** Pods of the deployment with the reason behind those that are not ready. */
export async function listPods(
  connection: Connection,
  clusterName: string,
  readWarning: WarningReader = createWarningReader(connection),
): Promise<readonly PodStatus[]> {
  const pods = await listLivePods(connection, clusterName);
  return Promise.all(
    pods.map(async (pod) => {
      const status = toPodStatus(pod);
      const isHealthy = status.ready || status.phase === "Completed" || status.phase === "Terminating";
      return isHealthy ? status : toPodStatus(pod, await readWarning(pod));
    }),
  );
}

interface WatchOptions {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly signal: AbortSignal;
  /** An apply that is at work: its workloads are shown before they have pods. */
  readonly applying?: { readonly workloads: readonly PlannedWorkload[]; readonly progress: RollOutProgress };
}

/** The pods whenever something about them has changed. */
export async function* watchPods({
  connection,
  clusterName,
  signal,
  applying,
}: WatchOptions): AsyncIterable<readonly PodStatus[]> {
  const readWarning = createWarningReader(connection);
  const startedAt = new Date().toISOString();
  let last = "";
  while (!signal.aborted) {
    const pods = await listPods(connection, clusterName, readWarning);
    const missing = (applying?.workloads ?? []).filter(({ name }) => !pods.some(({ workload }) => workload === name));
    const all = [
      ...pods,
      ...missing.map((workload): PodStatus => {
        const needs = applying?.progress.waiting.get(workload.name) ?? [];
        const unmet = needs.filter((need) => !pods.some((pod) => pod.workload === need && isUp(pod)));
        return {
          name: workload.name,
          namespace: workload.namespace,
          component: workload.component,
          workload: workload.name,
          phase: workload.kind === "task" && applying?.progress.done.has(workload.name) ? "Completed" : "Pending",
          ready: false,
          restarts: 0,
          createdAt: startedAt,
          ...(unmet.length > 0 && { message: `waits for ${unmet.join(", ")}` }),
        };
      }),
    ];
    const text = JSON.stringify(all);
    if (text !== last) {
      last = text;
      yield all;
    }
    try {
      await sleep(INTERVAL, undefined, { signal });
    } catch {
      // The signal ends the watch; there is nothing to report.
      return;
    }
  }
}

const isUp = ({ phase, ready }: PodStatus): boolean => ready || phase === "Completed";

/** By namespace and workload, the newest pod of a workload last. */
function sortKey({ metadata }: LivePod): string {
  const created = new Date(metadata.creationTimestamp ?? 0).toISOString();
  return `${metadata.namespace}/${metadata.labels?.["app.kubernetes.io/name"]}/${created}/${metadata.name}`;
}
