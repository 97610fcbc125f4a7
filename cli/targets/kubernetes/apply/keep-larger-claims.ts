import type { KubernetesObject } from "@swath/kubernetes";
import { parseQuantity } from "@swath/manifest";

/** The part of a claim that sizes are compared by. */
interface ClaimSpec {
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/** Claims with the size of the live volume where that is larger: a claim cannot shrink, and apply does not try. */
export function keepLargerClaims(
  objects: readonly KubernetesObject[],
  live: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return objects.map((object) => {
    if (object.kind !== "PersistentVolumeClaim") {
      return object;
    }
    const present = live.find(
      ({ metadata }) => metadata.name === object.metadata.name && metadata.namespace === object.metadata.namespace,
    );
    const size = present === undefined ? undefined : sizeOf(present);
    if (size === undefined || (parseQuantity(size) ?? 0) <= (parseQuantity(sizeOf(object) ?? "0") ?? 0)) {
      return object;
    }
    return { ...object, spec: { ...(object["spec"] as object), resources: { requests: { storage: size } } } };
  });
}

const sizeOf = (claim: KubernetesObject): string | undefined =>
  (claim["spec"] as ClaimSpec | undefined)?.resources?.requests?.storage;
