import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { createControlClient } from "../targets/embedded/control-client.ts";
import { findStatus } from "../targets/embedded/ensure-supervisor.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { clusterPaths, listClusters } from "../targets/embedded/state/paths.ts";
import { findVariablesAddress } from "../targets/kubernetes/find-address.ts";
import { readKnownCluster } from "../targets/kubernetes/known-clusters.ts";
import { CommandError, type Command } from "./command.ts";
import { cleanOnKubernetes } from "./deploy-kubernetes.ts";
import { DEFAULT_CLUSTER } from "./open-target.ts";

export const cleanCommand: Command = {
  name: "clean",
  summary: "remove persistent artefacts",
  usage: `
Usage: deploy/cluster/clean [CLUSTER]

Removes what outlives "delete": the volumes and generated secrets of every embedded cluster (or of CLUSTER alone),
/tmp/hostpath-provisioner, and deploy/swath/client.yaml. The clusters themselves stay (swath cluster delete removes one).
On Kubernetes (REQUIRE_LOCALCLUSTER=false, or CLUSTER was deployed there): the volume claims and generated secrets of the
deployment, with what is in them. Refuses while something is deployed.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const [name = DEFAULT_CLUSTER] = positionals;
    const isThere = findVariablesAddress(name, env) !== undefined;
    if (isThere || (positionals.length > 0 && !listClusters(env).includes(name) && readKnownCluster(name, env))) {
      return cleanOnKubernetes(name, { args, env, stdout, stderr });
    }
    const clusters = positionals.length > 0 ? positionals : listClusters(env);
    const targets = [
      ...clusters.flatMap((name) => {
        const paths = clusterPaths(name, env);
        return [paths.volumes, paths.secretsFile];
      }),
      "/tmp/hostpath-provisioner",
      join(repositoryRoot, "deploy/swath/client.yaml"),
    ];
    for (const name of clusters) {
      if (await isDeployed(name, env)) {
        throw new CommandError(
          `cluster "${name}" has a deployment that uses its volumes; remove it first: deploy/swath/swath.sh delete ${name}`,
        );
      }
    }
    for (const target of targets.filter((path) => existsSync(path))) {
      rmSync(target, { recursive: true, force: true });
      stdout.write(`removed ${target}\n`);
    }
    return 0;
  },
};

async function isDeployed(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const paths = clusterPaths(name, env);
  return existsSync(paths.planFile) || (await findStatus(createControlClient(paths.controlSocket))) !== undefined;
}
