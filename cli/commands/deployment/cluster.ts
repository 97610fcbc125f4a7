import { createControlClient } from "../../targets/embedded/control-client.ts";
import { deleteCluster } from "../../targets/embedded/delete-cluster.ts";
import { findStatus } from "../../targets/embedded/ensure-supervisor.ts";
import { isSettled } from "../../targets/pod-status.ts";
import { readClusterSettings } from "../../targets/embedded/state/cluster-settings.ts";
import { listVolumes } from "../../targets/embedded/state/list-volumes.ts";
import { clusterPaths, listClusters } from "../../targets/embedded/state/paths.ts";
import { listKnownClusters, readKnownCluster } from "../../targets/kubernetes/known-clusters.ts";
import { formatBytes } from "../../view/bytes.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { YES_OPTION, confirmRemoval, takeYes } from "../confirm.ts";

const USAGE = "Usage: swath cluster list | swath cluster delete CLUSTER [--yes]";

export const clusterCommand: Command = {
  name: "cluster",
  summary: "list or delete clusters",
  usage: `
Usage: swath cluster list
       swath cluster delete CLUSTER [--yes]

delete stops the cluster and removes all it has: deployment, volumes, secrets, certificates. It shows them and asks first.

${YES_OPTION}`,
  run: async ({ args, env, stdin, stdout, stderr }) => {
    const { yes, rest } = takeYes(args);
    const [action, name, ...more] = rest;
    if (more.length > 0) {
      throw new CommandError(`too many arguments: ${more.join(" ")}; ${USAGE}`, 2);
    }
    switch (action) {
      case "list":
        stdout.write(await formatClusters(env));
        return 0;
      case "delete":
        if (name === undefined) {
          throw new CommandError(
            `which cluster? There are: ${listClusters(env).join(", ") || "none"}. Usage: swath cluster delete CLUSTER`,
            2,
          );
        }
        if (!listClusters(env).includes(name)) {
          if (readKnownCluster(name, env) !== undefined) {
            throw new CommandError(
              `"${name}" is on Kubernetes, and that cluster is not this tool's to delete. Its deployment: deploy/swath/swath.sh delete ${name}; its volumes: deploy/cluster/clean ${name}; a minikube cluster: minikube delete --profile ${name}`,
            );
          }
          throw new CommandError(`there is no cluster "${name}"; swath cluster list shows those there are`);
        }
        await confirmRemoval({ stderr, ...(stdin && { stdin }) }, { yes, removed: await describeCluster(name, env) });
        await deleteCluster(name, env);
        stdout.write(`deleted cluster "${name}" with its volumes\n`);
        return 0;
      default:
        throw new CommandError(`what should be done with clusters? ${USAGE}`, 2);
    }
  },
};

/** What goes with a cluster, a line each. */
async function describeCluster(name: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const paths = clusterPaths(name, env);
  const status = await findStatus(createControlClient(paths));
  const pods = status?.pods.length ?? 0;
  return [
    ...(pods > 0 ? [`${pods} pods that are running`] : []),
    ...listVolumes(paths).map(({ volume, bytes }) => `volume ${volume} (${formatBytes(bytes)})`),
    `secrets, certificates, logs and settings in ${paths.directory}`,
  ];
}

async function formatClusters(env: NodeJS.ProcessEnv): Promise<string> {
  const rows = await Promise.all(
    listClusters(env).map(async (name) => {
      const paths = clusterPaths(name, env);
      const settings = readClusterSettings(paths);
      const status = await findStatus(createControlClient(paths));
      const pods = status?.pods ?? [];
      const state = status === undefined ? "stopped" : `${pods.filter(isSettled).length}/${pods.length} pods ready`;
      return [
        name,
        state,
        settings?.domain ?? "",
        settings === undefined ? "" : `${settings.httpPort},${settings.httpsPort}`,
        paths.directory,
      ];
    }),
  );
  const others = listKnownClusters(env).map((name) => {
    const { context = "", domain = "" } = readKnownCluster(name, env) ?? {};
    return [name, "on Kubernetes", domain, "", `context ${context}`];
  });
  rows.push(...others);
  return rows.length === 0
    ? "there are no clusters\n"
    : formatTable([["NAME", "STATE", "DOMAIN", "PORTS", "PLACE"], ...rows]);
}
