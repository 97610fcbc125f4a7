import type { Connection } from "../api/connection.ts";
import { deleteObject, forEachConcurrent, listObjects } from "../api/objects.ts";
import { KubernetesError, describeApiError } from "../kubernetes-error.ts";
import { selectApplied } from "../state/names.ts";
import { listLivePods } from "./list-pods.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" } as const;

/**
 * Restarts a pod, or all pods of a workload; gives the names of those that were meant. A workload that rolls over gets new pods
 * before the old ones go.
 */
export async function restartPods(
  connection: Connection,
  clusterName: string,
  name: string,
): Promise<readonly string[]> {
  const pods = (await listLivePods(connection, clusterName)).filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded",
  );
  const own = pods.filter(({ metadata }) => metadata.name === name);
  const meant =
    own.length > 0 ? own : pods.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === name);
  const deployments = await listObjects(connection, DEPLOYMENT, { labels: selectApplied(clusterName) });
  const deployment = own.length > 0 ? undefined : deployments.find(({ metadata }) => metadata.name === name);
  if (deployment !== undefined) {
    await rollOver(connection, deployment.metadata.namespace ?? "", name);
  } else {
    await forEachConcurrent(meant, ({ metadata }) =>
      deleteObject(connection, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: metadata.name, namespace: metadata.namespace },
      }),
    );
  }
  return meant.map(({ metadata }) => metadata.name);
}

/** As `kubectl rollout restart` does: a changed annotation makes new pods. It belongs to nobody's definition, so apply leaves it. */
async function rollOver({ apps }: Connection, namespace: string, name: string): Promise<void> {
  try {
    await apps.patchNamespacedDeployment({
      namespace,
      name,
      fieldManager: "swath-restart",
      body: [
        {
          op: "add",
          path: "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
          value: new Date().toISOString(),
        },
      ],
    });
  } catch (cause) {
    throw new KubernetesError(`${namespace}/${name} could not be restarted: ${describeApiError(cause)}`, { cause });
  }
}
