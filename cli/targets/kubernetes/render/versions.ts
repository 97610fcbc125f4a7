import type { RenderInput } from "./render-input.ts";

/** True when the cluster's Kubernetes is 1.`minor` or newer: by what it says itself, else by LOCALCLUSTER_ORCH_VERSION. */
export function servesApi({ cluster, settings: { variables } }: RenderInput, minor: number): boolean {
  if (cluster !== undefined) {
    return cluster.minor >= minor;
  }
  const [, major = "1", own = "0"] = /^v?(\d+)\.(\d+)/.exec(variables.LOCALCLUSTER_ORCH_VERSION) ?? [];
  return Number(major) > 1 || Number(own) >= minor;
}
