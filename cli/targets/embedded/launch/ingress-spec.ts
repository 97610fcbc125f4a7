import { createHash } from "node:crypto";

import { publishedConfig } from "../accounts/ingress-folder.ts";
import type { WorkloadAccount } from "../accounts/plan-accounts.ts";
import type { ClusterSettings } from "../state/cluster-settings.ts";
import type { ClusterPaths } from "../state/paths.ts";
import type { LaunchSpec } from "./launch-spec.ts";

/** Name of the ingress among the pods. */
export const INGRESS = "ingress";

interface IngressContext {
  readonly cluster: ClusterSettings;
  readonly paths: ClusterPaths;
  /** Undefined where it runs as the operator. */
  readonly account: WorkloadAccount | undefined;
  readonly codeVersion: (folder: string) => string;
}

/** The ingress is a pod like any other, but a part of the embedded cluster rather than of the platform. */
export function ingressSpec({ cluster, paths, account, codeVersion }: IngressContext): LaunchSpec {
  // The supervisor never runs two but to let one relieve the other, and whether ports are free was checked before.
  const env = {
    INGRESS_CONFIG: account === undefined ? paths.ingressConfig : publishedConfig(paths),
    INGRESS_TAKEOVER: "true",
  };
  const { addresses, httpPort, httpsPort } = cluster;
  const version = codeVersion("cli/targets/embedded/ingress");
  return {
    workload: {
      name: INGRESS,
      namespace: "ingress",
      component: INGRESS,
      kind: "service",
      env,
      resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    },
    program: "cli/targets/embedded/ingress/main.ts",
    account,
    env,
    hash: createHash("sha256")
      .update(JSON.stringify([env, addresses, httpPort, httpsPort, version, account]))
      .digest("hex")
      .slice(0, 16),
  };
}
