import { ArchiveError } from "@swath/archive";

import type { BackupHeader } from "../../backup/format.ts";
import { connect, type ClusterAddress } from "../../targets/kubernetes/api/connection.ts";
import { importDeployment } from "../../targets/kubernetes/backup/import-deployment.ts";
import { CommandError, type CommandContext } from "../command.ts";
import { applyPlan } from "./deploy-kubernetes.ts";
import { printWaiting } from "../print-waiting.ts";

interface RestoreOptions {
  readonly file: string;
  readonly header: BackupHeader;
  readonly cluster: string;
  /** Cluster that the variables mean, or that this machine knows by that name. */
  readonly address: ClusterAddress | undefined;
  readonly noStart: boolean;
}

/** Makes a deployment on Kubernetes from a backup of one, and waits until it is ready. */
export async function restoreOnKubernetes(
  { file, header, cluster, address, noStart }: RestoreOptions,
  context: CommandContext,
): Promise<number> {
  const { env, stdout, stderr } = context;
  if (header.target !== "kubernetes") {
    throw new CommandError(
      `nothing was changed: the backup is of an embedded cluster and is restored as one; leave REQUIRE_LOCALCLUSTER and LOCALCLUSTER_TOOL out`,
    );
  }
  if (address === undefined) {
    throw new CommandError(
      `nothing was changed: the backup is of a deployment on Kubernetes; to restore it on the cluster of the current kubeconfig context: REQUIRE_LOCALCLUSTER=false bin/swath restore ${file}`,
    );
  }
  if (noStart) {
    throw new CommandError("--no-start is for embedded clusters; Kubernetes keeps what is deployed running", 2);
  }
  const connection = await connect(address);
  const plan = await importDeployment({
    connection,
    file,
    header,
    clusterName: cluster,
    env,
    onWait: printWaiting(stderr),
  }).catch((error: unknown) => {
    throw error instanceof ArchiveError ? new CommandError(`nothing was changed: ${error.message}`) : error;
  });
  stdout.write(`restored the volumes of "${cluster}" (${header.domain}) as they were at ${header.createdAt}\n`);
  for (const { what, because } of header.leftOut) {
    stdout.write(`not in the backup: ${what}; ${because}\n`);
  }
  return applyPlan(plan, { ...address, context: connection.context }, context, {
    yes: true,
    withBackup: false,
  });
}
