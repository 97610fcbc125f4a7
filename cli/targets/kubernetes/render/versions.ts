import type { RenderInput } from "./render-input.ts";

/** Minor version of the cluster's Kubernetes 1.x: by what it says itself, else by LOCALCLUSTER_ORCH_VERSION. */
export function minorVersion({ cluster, settings: { variables } }: Pick<RenderInput, "cluster" | "settings">): number {
  if (cluster !== undefined) {
    return cluster.minor;
  }
  const [, major = "1", minor = "0"] = /^v?(\d+)\.(\d+)/.exec(variables.LOCALCLUSTER_ORCH_VERSION) ?? [];
  return Number(major) > 1 ? Number.MAX_SAFE_INTEGER : Number(minor);
}

/** True when the cluster's Kubernetes is 1.`minor` or newer. */
export function servesApi(input: RenderInput, minor: number): boolean {
  return minorVersion(input) >= minor;
}
