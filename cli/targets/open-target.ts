import type { Plan } from "../platform/plan.ts";
import { createEmbeddedTarget } from "./embedded/embedded-target.ts";
import { listClusters } from "./embedded/state/paths.ts";
import type { ClusterAddress } from "./kubernetes/api/connection.ts";
import { findDeploymentAddress, findVariablesAddress } from "./kubernetes/find-address.ts";
import { listKnownClusters } from "./kubernetes/known-clusters.ts";
import { createKubernetesTarget } from "./kubernetes/kubernetes-target.ts";
import type { Target } from "./target.ts";
import { CommandError } from "../commands/command.ts";

export const DEFAULT_CLUSTER = "swath";

/**
 * The target of an existing cluster by its name: on Kubernetes where the variables say so, else the embedded one, else the
 * cluster that this machine deployed that name on.
 */
export function openTarget(cluster: string | undefined, env: NodeJS.ProcessEnv): Target {
  const name = cluster ?? DEFAULT_CLUSTER;
  const embedded = listClusters(env);
  const address = findClusterAddress(name, env);
  if (address !== undefined) {
    return createKubernetesTarget({ clusterName: name, address, env });
  }
  if (!embedded.includes(name)) {
    const known = [...new Set([...embedded, ...listKnownClusters(env)])];
    throw new CommandError(
      `there is no cluster "${name}"${known.length > 0 ? ` (there are: ${known.join(", ")})` : ""}; make one: deploy/simple/simple`,
    );
  }
  return createEmbeddedTarget(name, env);
}

/** The Kubernetes cluster that a deployment of that name is on, or would be; undefined where it is embedded or nowhere. */
export function findClusterAddress(name: string, env: NodeJS.ProcessEnv): ClusterAddress | undefined {
  const isEmbedded = findVariablesAddress(name, env) === undefined && listClusters(env).includes(name);
  return isEmbedded ? undefined : findDeploymentAddress(name, env);
}

/** The target of an embedded cluster, for what only that can do. */
export function openEmbeddedTarget(cluster: string | undefined, env: NodeJS.ProcessEnv): Target {
  const name = cluster ?? DEFAULT_CLUSTER;
  if (!listClusters(env).includes(name) && findDeploymentAddress(name, env) !== undefined) {
    throw new CommandError(
      `"${name}" is on Kubernetes, which keeps its pods running by itself; to take it away: deploy/swath/swath.sh delete ${name}`,
    );
  }
  return openTarget(name, {
    ...env,
    REQUIRE_LOCALCLUSTER: undefined,
    REQUIRE_MINIKUBE: undefined,
    LOCALCLUSTER_TOOL: undefined,
  });
}

/** The plan of what is deployed on a target. */
export async function readDeployedPlan(target: Target): Promise<Plan> {
  const plan = await target.readPlan();
  if (plan === undefined) {
    throw new CommandError(`nothing is deployed on the ${target.title}; deploy something: deploy/simple/simple`);
  }
  return plan;
}
