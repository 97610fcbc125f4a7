import { parseQuantity } from "@swath/manifest";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

import type { Usage } from "../spawner.ts";

interface PodMetrics {
  readonly containers: readonly { readonly usage: { readonly cpu: string; readonly memory: string } }[];
}

/** What a pod uses now, where the cluster has a metrics server; undefined elsewhere. */
export async function readUsage(api: ClusterApi, namespace: string, pod: string): Promise<Usage | undefined> {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods/${pod}`;
  try {
    const found = await api.get<PodMetrics>(path);
    return (
      found && {
        cores: found.containers.reduce((sum, { usage }) => sum + toCores(usage.cpu), 0),
        memoryBytes: found.containers.reduce((sum, { usage }) => sum + (parseQuantity(usage.memory) ?? 0), 0),
      }
    );
  } catch (error) {
    // No metrics server, or one that is starting.
    if (error instanceof ClusterApiError && [403, 404, 503].includes(error.status)) {
      return undefined;
    }
    throw error;
  }
}

const UNITS: ReadonlyMap<string, number> = new Map(Object.entries<number>({ n: 1e-9, u: 1e-6, m: 1e-3, "": 1 }));

/** `250m`, `123456789n` */
function toCores(text: string): number {
  const [, amount = "0", unit = ""] = /^([\d.]+)([num]?)$/.exec(text) ?? [];
  return Number(amount) * (UNITS.get(unit) ?? 1);
}
