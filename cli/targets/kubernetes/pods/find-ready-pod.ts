import type { Connection } from "../api/connection.ts";
import { listLivePods } from "./list-pods.ts";
import type { LivePod } from "./live-pod.ts";

/** The newest pod of a workload that is ready and has not been asked to stop. */
export async function findReadyPod(
  connection: Connection,
  clusterName: string,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<LivePod | undefined> {
  const pods = await listLivePods(connection, clusterName);
  return pods.findLast(
    ({ metadata, status }) =>
      metadata.namespace === namespace &&
      metadata.labels?.["app.kubernetes.io/name"] === name &&
      metadata.deletionTimestamp === undefined &&
      status?.containerStatuses?.[0]?.ready === true,
  );
}
