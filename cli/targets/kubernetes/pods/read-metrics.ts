import type { PodStatus } from "../../pod-status.ts";
import type { Connection } from "../api/connection.ts";
import { KubernetesError, describeApiError } from "../kubernetes-error.ts";
import { managementPort } from "../render/environment.ts";

/** Metrics of a pod, through the API server: nothing else reaches the management listener from outside. */
export async function readMetrics(
  { core }: Connection,
  { namespace, name, workload }: PodStatus,
): Promise<string | undefined> {
  if (workload === "postgres") {
    return undefined;
  }
  try {
    return await core.connectGetNamespacedPodProxyWithPath({
      name: `${name}:${managementPort}`,
      namespace,
      path: "metrics",
    });
  } catch (cause) {
    throw new KubernetesError(`its metrics cannot be read: ${describeApiError(cause)}`, { cause });
  }
}
