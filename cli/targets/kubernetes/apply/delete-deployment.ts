import { setTimeout as sleep } from "node:timers/promises";

import type { KubernetesObject } from "@swath/kubernetes";

import type { Connection } from "../api/connection.ts";
import { type LiveObject, applyObject, deleteObject, forEachConcurrent, listObjects } from "../api/objects.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { keys } from "../render/labels.ts";
import { RECORD_NAMESPACE, GENERATED_SECRET, selectDeployment } from "../state/names.ts";
import { leadingKinds, referredKinds } from "./kinds.ts";

const NAMESPACE = { apiVersion: "v1", kind: "Namespace" } as const;
const CLAIM = { apiVersion: "v1", kind: "PersistentVolumeClaim" } as const;
const POD = { apiVersion: "v1", kind: "Pod" } as const;
/** Kinds whose presence in a namespace means that somebody else uses it too. */
const TELLING = [
  { apiVersion: "apps/v1", kind: "Deployment" },
  { apiVersion: "apps/v1", kind: "StatefulSet" },
  { apiVersion: "apps/v1", kind: "DaemonSet" },
  POD,
  CLAIM,
  { apiVersion: "v1", kind: "Secret" },
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "v1", kind: "Service" },
] as const;

/** Milliseconds that pods and namespaces may take to go. */
const TIMEOUT = 180_000;

export interface Deleted {
  readonly removed: number;
  /** Namespaces that stay because volumes are kept in them. */
  readonly kept: readonly string[];
  /** Namespaces that stay because somebody else uses them. */
  readonly shared: readonly string[];
}

interface DeleteOptions {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly minor: number;
  /** Also volumes and generated secrets. */
  readonly everything?: boolean;
}

/** Removes all that the deployment and its services made, and nothing else. Resolves when it is gone. */
export async function deleteDeployment(options: DeleteOptions): Promise<Deleted> {
  const { connection, clusterName, minor, everything = false } = options;
  const labels = selectDeployment(clusterName);
  let removed = 0;
  const remove = async (kinds: ReturnType<typeof referredKinds>) => {
    for (const kind of kinds) {
      const found = (await listObjects(connection, kind, { labels })).filter(
        (object) => everything || !isGenerated(object),
      );
      await forEachConcurrent(found, (object) => deleteObject(connection, object));
      removed += found.length;
    }
  };
  await remove(leadingKinds);
  await waitUntilGone("pods", () => listObjects(connection, POD, { labels }));
  await remove(referredKinds(minor));
  if (everything) {
    const claims = await listObjects(connection, CLAIM, { labels });
    await forEachConcurrent(claims, (object) => deleteObject(connection, object));
    removed += claims.length;
    await waitUntilGone("volume claims", () => listObjects(connection, CLAIM, { labels }));
  }
  const namespaces = await removeNamespaces(options);
  return { ...namespaces, removed: removed + namespaces.removed };
}

async function removeNamespaces({ connection, clusterName }: DeleteOptions): Promise<Deleted> {
  const labels = selectDeployment(clusterName);
  const kept: string[] = [];
  const shared: string[] = [];
  const going: string[] = [];
  await forEachConcurrent(await listObjects(connection, NAMESPACE, { labels }), async (namespace) => {
    const { name } = namespace.metadata;
    if (namespace.metadata.annotations?.[keys.foreign] !== undefined) {
      await unmark(connection, name);
      return;
    }
    const inside = await Promise.all(TELLING.map((kind) => listObjects(connection, kind, { namespace: name })));
    // Services label what they make as a part of the platform.
    const isOurs = ({ metadata: { labels: own } }: LiveObject) => own?.["app.kubernetes.io/part-of"] === "swath";
    if (inside.flat().some((object) => isOurs(object) && (object.kind === CLAIM.kind || isGenerated(object)))) {
      kept.push(name);
    } else if (inside.flat().some((object) => !isOurs(object) && !isAutomatic(object))) {
      shared.push(name);
    } else {
      await deleteObject(connection, namespace);
      going.push(name);
    }
  });
  await waitUntilGone("namespaces", async () =>
    (await listObjects(connection, NAMESPACE, { labels })).filter(({ metadata }) => going.includes(metadata.name)),
  );
  return { removed: going.length, kept: kept.toSorted(), shared: shared.toSorted() };
}

/** Gives up our labels on a namespace that was there before us: an apply without them takes them off. */
async function unmark(connection: Connection, name: string): Promise<void> {
  await applyObject(connection, { ...NAMESPACE, metadata: { name } });
}

function isGenerated({ kind, metadata }: KubernetesObject): boolean {
  return kind === "Secret" && metadata.namespace === RECORD_NAMESPACE && metadata.name === GENERATED_SECRET;
}

/** What a cluster puts into every namespace, and what others make on our behalf: tokens of accounts, certificates. */
function isAutomatic({ kind, metadata, ...rest }: LiveObject): boolean {
  const type = kind === "Secret" ? (rest["type"] as string | undefined) : undefined;
  const owners = "ownerReferences" in metadata ? (metadata.ownerReferences as readonly unknown[]) : [];
  return (
    (kind === "ConfigMap" && metadata.name === "kube-root-ca.crt") ||
    type === "kubernetes.io/service-account-token" ||
    metadata.annotations?.["cert-manager.io/certificate-name"] !== undefined ||
    (owners ?? []).length > 0
  );
}

async function waitUntilGone(what: string, list: () => Promise<readonly LiveObject[]>): Promise<void> {
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const left = await list();
    if (left.length === 0) {
      return;
    }
    if (Date.now() > deadline) {
      const names = left.map(({ metadata }) => [metadata.namespace, metadata.name].filter(Boolean).join("/"));
      throw new KubernetesError(
        `timed out waiting for the deletion of ${what}: ${names.join(", ")}; see kubectl describe`,
      );
    }
    await sleep(500);
  }
}
