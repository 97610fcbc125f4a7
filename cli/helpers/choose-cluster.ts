import { DEFAULT_CLUSTER, openTarget } from "../targets/open-target.ts";
import { listClusters } from "../targets/embedded/state/paths.ts";
import { listKnownClusters } from "../targets/kubernetes/known-clusters.ts";

/**
 * The cluster that a helper means: the one that `--cluster` names, else the one with the domain, else the default one, else the only one
 * that this machine knows. Undefined where these leave it open.
 */
export async function chooseCluster(env: NodeJS.ProcessEnv, domain?: string): Promise<string | undefined> {
  if (env["SWATH_CLUSTER"] !== undefined && env["SWATH_CLUSTER"] !== "") {
    return env["SWATH_CLUSTER"];
  }
  const names = [...new Set([...listClusters(env), ...listKnownClusters(env)])];
  if (domain !== undefined && domain !== "") {
    for (const name of names) {
      if ((await readDomain(name, env)) === domain) {
        return name;
      }
    }
  }
  return names.includes(DEFAULT_CLUSTER) ? DEFAULT_CLUSTER : names.length === 1 ? names[0] : undefined;
}

/** Undefined where nothing is deployed there, or the cluster cannot be asked now. */
async function readDomain(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    return (await openTarget(name, env).readPlan())?.settings.domain;
  } catch {
    return undefined;
  }
}
