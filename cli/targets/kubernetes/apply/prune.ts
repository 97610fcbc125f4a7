import type { KubernetesObject } from "@swath/kubernetes";

import type { Connection } from "../api/connection.ts";
import { deleteObject, forEachConcurrent, listObjects, nameOf } from "../api/objects.ts";
import { GENERATED_SECRET, PLAN_SECRET, RECORD_NAMESPACE, RELEASES_SECRET, selectApplied } from "../state/names.ts";
import { removableKinds } from "./kinds.ts";

interface PruneOptions {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly minor: number;
  /** What stays. */
  readonly desired: readonly KubernetesObject[];
}

/** Removes what an earlier plan had and this one has not. Volumes and namespaces stay: they may hold what is wanted again. */
export async function prune({ connection, clusterName, minor, desired }: PruneOptions): Promise<readonly string[]> {
  const names = new Set(desired.map(nameOf));
  const removed: string[] = [];
  for (const kind of removableKinds(minor)) {
    const found = await listObjects(connection, kind, { labels: selectApplied(clusterName) });
    const stale = found.filter((object) => !names.has(nameOf(object)) && !isRecord(object) && !isOwned(object));
    await forEachConcurrent(stale, (object) => deleteObject(connection, object));
    removed.push(...stale.map(nameOf));
  }
  return removed;
}

export function isRecord({ kind, metadata }: KubernetesObject): boolean {
  return (
    kind === "Secret" &&
    metadata.namespace === RECORD_NAMESPACE &&
    [GENERATED_SECRET, PLAN_SECRET, RELEASES_SECRET].includes(metadata.name)
  );
}

/** Made by another object (a certificate's Secret by its Ingress), with which it goes. */
function isOwned({ metadata }: KubernetesObject): boolean {
  return (
    "ownerReferences" in metadata && Array.isArray(metadata.ownerReferences) && metadata.ownerReferences.length > 0
  );
}
