import type { ClusterApi } from "@swath/kubernetes/api";

import { type Pod, podKeys } from "./pod-types.ts";
import { isGated } from "./pod-wait-reason.ts";

interface Workload {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

/** Kueue serves the later one since its version 0.15. */
const VERSIONS = ["v1beta2", "v1beta1"];
/** Milliseconds for which an answer is good: hundreds of pods may wait. */
const ASK_INTERVAL_MS = 15_000;

/**
 * Makes what tells why Kueue holds one pod back: its queue does not exist, its quota is used up, or it asks for more than there ever is.
 * `undefined` where Kueue says nothing, or may not be asked.
 */
export function createQueueReason(api: ClusterApi, namespace: string): (pod: Pod) => Promise<string | undefined> {
  let [askedAt, reason]: [number, string | undefined] = [0, undefined];
  return async (pod) => {
    if (!isGated(pod) || pod.metadata.labels?.[podKeys.queue] === undefined) {
      return undefined;
    }
    if (Date.now() - askedAt > ASK_INTERVAL_MS) {
      askedAt = Date.now();
      // Without an answer the job waits all the same.
      reason = await readReason(api, namespace, pod).catch(() => undefined);
    }
    return reason;
  };
}

async function readReason(api: ClusterApi, namespace: string, pod: Pod): Promise<string | undefined> {
  const query = { labelSelector: `kueue.x-k8s.io/job-uid=${pod.metadata.uid}` };
  for (const version of VERSIONS) {
    const path = `/apis/kueue.x-k8s.io/${version}/namespaces/${namespace}/workloads`;
    const found = await api.get<{ readonly items: readonly Workload[] }>(path, query);
    if (found !== undefined) {
      const { conditions = [] } = found.items[0]?.status ?? {};
      return conditions.find(({ type, status }) => type === "QuotaReserved" && status === "False")?.message;
    }
  }
  return undefined;
}
