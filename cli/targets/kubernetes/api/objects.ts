import type { KubernetesObject } from "@swath/kubernetes";

import { KubernetesError, describeApiError, statusOf } from "../kubernetes-error.ts";
import type { Connection } from "./connection.ts";

/** Who the fields that apply sets belong to. */
export const FIELD_MANAGER = "swath";

/** An object as the API server gives it back. */
export interface LiveObject extends KubernetesObject {
  readonly metadata: KubernetesObject["metadata"] & {
    readonly resourceVersion?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
  };
}

/** Makes an object what it says; with `dryRun` only gives what it would become. Fields that others set and it does not name stay. */
export async function applyObject(
  { objects }: Connection,
  object: KubernetesObject,
  options: { readonly dryRun?: boolean } = {},
): Promise<LiveObject> {
  try {
    return (await objects.apply(object, FIELD_MANAGER, options)) as LiveObject;
  } catch (cause) {
    throw new KubernetesError(`${nameOf(object)} could not be applied: ${describeApiError(cause)}`, { cause });
  }
}

export async function readObject(
  { objects }: Connection,
  object: Pick<KubernetesObject, "apiVersion" | "kind" | "metadata">,
): Promise<LiveObject | undefined> {
  try {
    return (await objects.read(object)) as LiveObject;
  } catch (error) {
    if (statusOf(error) === 404) {
      return undefined;
    }
    throw new KubernetesError(`${nameOf(object)} could not be read: ${describeApiError(error)}`, { cause: error });
  }
}

/** Objects of a kind with a label, in all namespaces; none where the cluster does not have that kind. */
export async function listObjects(
  { objects }: Connection,
  { apiVersion, kind }: Pick<KubernetesObject, "apiVersion" | "kind">,
  { labels, namespace }: { readonly labels?: string; readonly namespace?: string },
): Promise<readonly LiveObject[]> {
  try {
    return (await objects.list(
      { apiVersion, kind },
      { ...(labels !== undefined && { labels }), ...(namespace !== undefined && { namespace }) },
    )) as readonly LiveObject[];
  } catch (error) {
    if (statusOf(error) === 404) {
      return [];
    }
    throw new KubernetesError(`objects of kind ${kind} could not be listed: ${describeApiError(error)}`, {
      cause: error,
    });
  }
}

/** Asks for an object's end, and for that of everything it made; one that is gone already is as good. */
export async function deleteObject({ objects }: Connection, object: LiveObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  try {
    await objects.delete({ apiVersion, kind, metadata }, { propagationPolicy: "Background" });
  } catch (error) {
    if (statusOf(error) !== 404) {
      throw new KubernetesError(`${nameOf(object)} could not be deleted: ${describeApiError(error)}`, { cause: error });
    }
  }
}

/** `Deployment um/identity`. */
export function nameOf({ kind, metadata }: Pick<KubernetesObject, "kind" | "metadata">): string {
  return `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
}

/** Runs a task for every item, `width` at a time. */
export async function forEachConcurrent<T>(
  items: readonly T[],
  task: (item: T) => Promise<void>,
  width = 8,
): Promise<void> {
  const rest = [...items];
  await Promise.all(
    Array.from({ length: Math.min(width, rest.length) }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
        await task(item);
      }
    }),
  );
}
