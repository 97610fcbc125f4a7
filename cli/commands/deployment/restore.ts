import { createReadStream, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

import { ArchiveError } from "@swath/archive";

import { type BackupHeader, readBackup } from "../../backup/format.ts";
import { type ClusterImport, findConflict, importCluster } from "../../targets/embedded/import-cluster.ts";
import { acquireApplyLock } from "../../targets/embedded/acquire-apply-lock.ts";
import { clusterPaths } from "../../targets/embedded/state/paths.ts";
import { findVariablesAddress } from "../../targets/kubernetes/find-address.ts";
import { CommandError, type Command } from "../command.ts";
import { findClusterAddress } from "../../targets/open-target.ts";
import { startCommand } from "../operation/start.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "make a deployment from a backup file",
  usage: `
Usage: swath restore FILE [CLUSTER] [--no-start]

Makes the deployment that swath backup wrote into FILE and starts it: the same users, data, secrets, keys, domain and
ports. CLUSTER is the name that it had when left out. Refuses where something is deployed or volumes lie.
--no-start leaves it stopped; swath start starts it.
A backup of a deployment on Kubernetes is restored on the cluster of the current kubeconfig context, where
REQUIRE_LOCALCLUSTER=false is set.`,
  run: async (context) => {
    const { args, env, stdout, stderr } = context;
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { "no-start": { type: "boolean", default: false } },
    });
    const [file, desired] = positionals;
    if (file === undefined) {
      throw new CommandError("which backup? swath restore FILE", 2);
    }
    if (!existsSync(file)) {
      throw new CommandError(`there is no file ${file}`);
    }
    const header = await readHeader(file);
    const cluster = desired ?? header.cluster;
    const address = findClusterAddress(cluster, env);
    if (header.target === "kubernetes" || findVariablesAddress(cluster, env) !== undefined) {
      const { restoreOnKubernetes } = await import("./restore-kubernetes.ts");
      return restoreOnKubernetes({ file, header, cluster, address, noStart: values["no-start"] }, context);
    }
    const paths = clusterPaths(cluster, env);
    const release = await acquireApplyLock(paths.id, () =>
      stderr.write(`an apply of cluster "${cluster}" is at work; waiting for it to end ...\n`),
    );
    try {
      const conflict = findConflict(paths);
      if (conflict !== undefined) {
        throw new CommandError(
          `nothing was changed: in cluster "${cluster}" ${conflict}. Restore under another name (swath restore ${file} NAME), ` +
            `or remove what is there first: deploy/swath/swath.sh delete ${cluster}; deploy/cluster/clean ${cluster}`,
        );
      }
      mkdirSync(dirname(paths.directory), { recursive: true, mode: 0o711 });
      await unpack(file, importCluster(paths, header.volumes));
    } finally {
      release();
    }
    stdout.write(`restored cluster "${cluster}" (${header.domain}) as it was at ${header.createdAt}\n`);
    for (const { what, because } of header.leftOut) {
      stdout.write(`not in the backup: ${what}; ${because}\n`);
    }
    return values["no-start"] ? 0 : startCommand.run({ ...context, args: [cluster] });
  },
};

async function readHeader(file: string): Promise<BackupHeader> {
  const found = Promise.withResolvers<BackupHeader>();
  const source = createReadStream(file);
  readBackup(source, {
    header: (header) => {
      found.resolve(header);
      // The rest is read when it is known where to.
      source.destroy();
    },
    entry: async () => {},
  }).catch(found.reject);
  return found.promise.catch(explain);
}

async function unpack(file: string, cluster: ClusterImport): Promise<void> {
  try {
    await readBackup(createReadStream(file), { header: () => {}, entry: cluster.take });
    cluster.finish();
  } catch (error) {
    cluster.discard();
    explain(error);
  }
}

function explain(error: unknown): never {
  throw error instanceof ArchiveError ? new CommandError(`nothing was changed: ${error.message}`) : error;
}
