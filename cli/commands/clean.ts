import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { createControlClient } from "../targets/embedded/control-client.ts";
import { findStatus } from "../targets/embedded/ensure-supervisor.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { listVolumes } from "../targets/embedded/state/list-volumes.ts";
import { clusterPaths, listClusters } from "../targets/embedded/state/paths.ts";
import { findVariablesAddress } from "../targets/kubernetes/find-address.ts";
import { readKnownCluster } from "../targets/kubernetes/known-clusters.ts";
import { formatBytes } from "../view/bytes.ts";
import { CommandError, type Command } from "./command.ts";
import { cleanOnKubernetes } from "./deploy-kubernetes.ts";
import { YES_OPTION, confirmRemoval, takeYes } from "./confirm.ts";
import { DEFAULT_CLUSTER } from "./open-target.ts";

export const cleanCommand: Command = {
  name: "clean",
  summary: "remove persistent artefacts",
  usage: `
Usage: deploy/cluster/clean [CLUSTER] [--yes]

Removes what outlives "delete": the volumes and generated secrets of every embedded cluster (or of CLUSTER alone),
/tmp/hostpath-provisioner, and deploy/swath/client.yaml. The clusters themselves stay (swath cluster delete removes one).
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
    const existing = targets.filter((path) => existsSync(path));
    await confirmRemoval(send, { yes, removed: describeTargets(existing, clusters, env) });
    for (const target of existing) {
      rmSync(target, { recursive: true, force: true });
      stdout.write(`removed ${target}\n`);
    }
    return 0;
  },
};

/** Paths, with the size of each volume below them. */
function describeTargets(
  targets: readonly string[],
  clusters: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const volumes = new Map(
    clusters.map((name) => [clusterPaths(name, env).volumes, listVolumes(clusterPaths(name, env))]),
  );
  return targets.flatMap((path) => [
    path,
    ...(volumes.get(path) ?? []).map(({ volume, bytes }) => `  volume ${volume} (${formatBytes(bytes)})`),
  ]);
}

async function isDeployed(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const paths = clusterPaths(name, env);
  return existsSync(paths.planFile) || (await findStatus(createControlClient(paths))) !== undefined;
}
