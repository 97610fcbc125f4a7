import type { KubernetesObject } from "@swath/kubernetes";

import type { Connection } from "../api/connection.ts";
import { applyObject, readObject } from "../api/objects.ts";
import { keys } from "../render/labels.ts";

/** A namespace that was there before us is used and marked, so that its deletion is never ours. */
export async function applyNamespace(connection: Connection, namespace: KubernetesObject): Promise<void> {
  const existing = await readObject(connection, namespace);
  const { metadata } = namespace;
  const isForeign = existing !== undefined && existing.metadata.labels?.[keys.deployment] === undefined;
  const isMarked = existing?.metadata.annotations?.[keys.foreign] !== undefined;
  await applyObject(
    connection,
    isForeign || isMarked
      ? { ...namespace, metadata: { ...metadata, annotations: { ...metadata.annotations, [keys.foreign]: "true" } } }
      : namespace,
  );
}
