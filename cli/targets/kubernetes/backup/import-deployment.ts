import { createReadStream } from "node:fs";

import { type BackupHeader, readBackup } from "../../../backup/format.ts";
import type { Plan } from "../../../platform/plan.ts";
import { applyNamespace } from "../apply/apply-namespace.ts";
import { deleteDeployment } from "../apply/delete-deployment.ts";
import type { Connection } from "../api/connection.ts";
import { applyObject, listObjects } from "../api/objects.ts";
import { checkCluster } from "../checks/check-cluster.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { acquireLease } from "../lease/acquire-lease.ts";
import { commonLabels } from "../render/labels.ts";
import { renderNamespace, renderPlan } from "../render/render-plan.ts";
import { readGeneratedSecrets, writeGeneratedSecrets } from "../state/generated-secrets.ts";
import { RECORD_NAMESPACE, selectDeployment } from "../state/names.ts";
import { readPlan } from "../state/record.ts";
import { type VolumeFiller, fillVolume } from "./fill-volume.ts";
import { readContents, volumeOf } from "./read-contents.ts";

interface ImportOptions {
  readonly connection: Connection;
  readonly file: string;
  readonly header: BackupHeader;
  readonly clusterName: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onWait: (holder: string) => void;
}

/**
 * Makes volumes and secrets what they were when the backup was written; the plan that is given back is then to be applied. A file that
 * cannot be restored changes nothing; what fails in the middle is taken away again.
 * @throws {KubernetesError | ArchiveError} saying what is in the way
 */
export async function importDeployment(options: ImportOptions): Promise<Plan> {
  const { connection, file, header, clusterName, env, onWait } = options;
  const { plan: written, secrets } = await readContents(file, header);
  const plan: Plan = { ...written, settings: { ...written.settings, clusterName } };
  const { minor } = await checkCluster(connection, plan, env);
  await refuseExisting(options);
  await applyNamespace(connection, renderNamespace(plan, RECORD_NAMESPACE));
  const lease = await acquireLease({ connection, onWait });
  try {
    // Whoever was waited for may have deployed something.
    await refuseExisting(options);
    try {
      await writeGeneratedSecrets(connection, secrets, commonLabels(plan.settings));
      await makeClaims(connection, plan);
      await fillVolumes(options, plan);
    } catch (error) {
      await deleteDeployment({ connection, clusterName, minor, everything: true });
      throw error;
    }
  } finally {
    await lease?.release();
  }
  return plan;
}

async function refuseExisting({ connection, clusterName, file }: ImportOptions): Promise<void> {
  const claims = await listObjects(
    connection,
    { apiVersion: "v1", kind: "PersistentVolumeClaim" },
    { labels: selectDeployment(clusterName) },
  );
  const conflict =
    (await readPlan(connection, clusterName)) !== undefined
      ? "something is deployed"
      : claims.length > 0
        ? "there are volumes"
        : (await readGeneratedSecrets(connection)).size > 0
          ? "there are secrets"
          : undefined;
  if (conflict !== undefined) {
    throw new KubernetesError(
      `nothing was changed: on the cluster of context "${connection.context}" ${conflict} of "${clusterName}". Restore on another cluster, ` +
        `or remove what is there first: deploy/swath/swath.sh delete ${clusterName}; deploy/cluster/clean ${clusterName}; then bin/swath restore ${file}`,
    );
  }
}

async function makeClaims(connection: Connection, plan: Plan): Promise<void> {
  const objects = renderPlan(plan);
  for (const namespace of objects.filter(({ kind }) => kind === "Namespace")) {
    await applyNamespace(connection, namespace);
  }
  for (const claim of objects.filter(({ kind }) => kind === "PersistentVolumeClaim")) {
    await applyObject(connection, claim);
  }
}

/** One after the other, as they come. */
async function fillVolumes({ connection, file, header }: ImportOptions, plan: Plan): Promise<void> {
  let current: { readonly volume: string; readonly filler: VolumeFiller } | undefined;
  await readBackup(createReadStream(file), {
    header: () => {},
    entry: async (entry) => {
      const place = volumeOf(entry.name, header.volumes);
      if (place === undefined) {
        for await (const _ of entry.content) {
          // Plan and secrets, which are known.
        }
        return;
      }
      const { volume, name } = place;
      if (current?.volume !== volume) {
        await current?.filler.finish();
        const [namespace = "", claim = ""] = volume.split("/");
        current = { volume, filler: await fillVolume(connection, plan, { namespace, name: claim }) };
      }
      await current.filler.add(entry, name);
    },
  });
  await current?.filler.finish();
}
