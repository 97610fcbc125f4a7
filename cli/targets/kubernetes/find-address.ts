import { resolveConfig } from "../../config/resolve.ts";
import type { ClusterAddress } from "./api/connection.ts";
import { readKnownCluster } from "./known-clusters.ts";

/** Which cluster the variables mean; undefined where they mean the embedded one. */
export function findVariablesAddress(clusterName: string, env: NodeJS.ProcessEnv): ClusterAddress | undefined {
  const facts = { clusterIp: undefined, wildcardDnsResolves: true };
  const { variables } = resolveConfig({ env, args: { clusterName }, facts }).config;
  if (variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded") {
    return undefined;
  }
  return {
    // The cluster tool names the context after the profile.
    ...(variables.REQUIRE_LOCALCLUSTER && { context: clusterName }),
    ...(env["KUBECONFIG"] && { kubeconfig: env["KUBECONFIG"] }),
  };
}

/** Where a deployment of that name is: as the variables say, else where this machine deployed it. */
export function findDeploymentAddress(clusterName: string, env: NodeJS.ProcessEnv): ClusterAddress | undefined {
  const known = readKnownCluster(clusterName, env);
  const meant = findVariablesAddress(clusterName, env);
  // The context that was current at the time of the deployment, whatever is current now.
  return meant === undefined ? known : { ...(known?.context !== undefined && { context: known.context }), ...meant };
}
