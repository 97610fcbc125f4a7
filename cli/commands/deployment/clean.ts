import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { createControlClient } from "../../targets/embedded/control-client.ts";
import { findStatus } from "../../targets/embedded/ensure-supervisor.ts";
import { describeRemoved, takeInventory } from "../../targets/embedded/inventory.ts";
import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";
import { clusterPaths, listClusters } from "../../targets/embedded/state/paths.ts";
import { findVariablesAddress } from "../../targets/kubernetes/find-address.ts";
import { readKnownCluster } from "../../targets/kubernetes/known-clusters.ts";
import { CommandError, type Command } from "../command.ts";
import { cleanOnKubernetes } from "./deploy-kubernetes.ts";
import { YES_OPTION, confirmRemoval, takeYes } from "../confirm.ts";
import { DEFAULT_CLUSTER } from "../../targets/open-target.ts";

export const cleanCommand: Command = {
  name: "clean",
  summary: "remove persistent artefacts",
  usage: `
Usage: deploy/cluster/clean [CLUSTER] [--yes]

Removes what outlives "delete" of every embedded cluster (or of CLUSTER alone): volumes, secrets, given passwords, keys and
certificates, logs; and /tmp/hostpath-provisioner and deploy/swath/client.yaml. It lists all of it, and what stays: the addresses
of a cluster (swath cluster delete removes them) and backups.
On Kubernetes (REQUIRE_LOCALCLUSTER=false, or CLUSTER was deployed there): the volume claims and generated secrets of the
deployment, with what is in them. Refuses while something is deployed; shows what it removes and asks first.

${YES_OPTION}`,
  run: async ({ args, env, stdin, stdout, stderr }) => {
    const { yes, rest } = takeYes(args);
    const { positionals } = parseArgs({ args: [...rest], allowPositionals: true, options: {} });
    if (positionals.length > 1) {
      throw new CommandError(`too many arguments: ${positionals.slice(1).join(" ")}`, 2);
    }
    const send = { stderr, ...(stdin && { stdin }) };
    const [name = DEFAULT_CLUSTER] = positionals;
    const exists = findVariablesAddress(name, env) !== undefined;
    if (exists || (positionals.length > 0 && !listClusters(env).includes(name) && readKnownCluster(name, env))) {
      return cleanOnKubernetes(name, { args, env, stdout, ...send }, yes);
    }
    if (positionals.length > 0 && !listClusters(env).includes(name)) {
      throw new CommandError(
        `there is no cluster "${name}"; there are: ${listClusters(env).join(", ") || "none"} (swath cluster list)`,
      );
    }
    const clusters = (positionals.length > 0 ? positionals : listClusters(env)).map((each) => clusterPaths(each, env));
    for (const { cluster } of clusters) {
      if (await isDeployed(cluster, env)) {
        throw new CommandError(
          `cluster "${cluster}" has a deployment that uses its volumes; remove it first: deploy/swath/swath.sh delete ${cluster}`,
        );
      }
    }
    const inventories = clusters.map((paths) => ({ paths, inventory: takeInventory(paths, env) }));
    const shared = ["/tmp/hostpath-provisioner", join(repositoryRoot, "deploy/swath/client.yaml")].filter((path) =>
      existsSync(path),
    );
    for (const { path, holds, because } of inventories.flatMap(({ inventory }) => inventory.kept)) {
      stdout.write(`stays: ${path} (${holds}): ${because}\n`);
    }
    const removed = [...inventories.flatMap(({ inventory, paths }) => describeRemoved(inventory, paths)), ...shared];
    await confirmRemoval(send, { yes, removed });
    const targets = [...inventories.flatMap(({ inventory }) => inventory.removed.map(({ path }) => path)), ...shared];
    for (const target of targets) {
      rmSync(target, { recursive: true, force: true });
      stdout.write(`removed ${target}\n`);
    }
    return 0;
  },
};

async function isDeployed(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const paths = clusterPaths(name, env);
  return existsSync(paths.planFile) || (await findStatus(createControlClient(paths))) !== undefined;
}
