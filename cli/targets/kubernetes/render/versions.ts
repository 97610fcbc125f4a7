import type { PlatformSettings } from "@swath/manifest";

/** True when the cluster's Kubernetes is 1.`minor` or newer, by LOCALCLUSTER_ORCH_VERSION. */
export function servesApi({ variables }: PlatformSettings, minor: number): boolean {
  const [, major = "1", own = "0"] = /^v?(\d+)\.(\d+)/.exec(variables.LOCALCLUSTER_ORCH_VERSION) ?? [];
  return Number(major) > 1 || Number(own) >= minor;
}
