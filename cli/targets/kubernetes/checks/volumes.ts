import { parseQuantity } from "@swath/manifest";

import { listObjects } from "../api/objects.ts";
import { selectDeployment } from "../state/names.ts";
import type { Check } from "./check.ts";

interface ClaimSpec {
  readonly accessModes?: readonly string[];
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/** What cannot be changed about a volume that was kept. A larger one keeps its size (keepLargerClaims). */
export const checkVolumes: Check = async ({ connection, plan }) => {
  const [claims, classes] = await Promise.all([
    listObjects(
      connection,
      { apiVersion: "v1", kind: "PersistentVolumeClaim" },
      { labels: selectDeployment(plan.settings.clusterName) },
    ),
    listObjects(connection, { apiVersion: "storage.k8s.io/v1", kind: "StorageClass" }, {}),
  ]);
  const isExpandable = (name: string) =>
    classes.find(({ metadata }) => metadata.name === name)?.["allowVolumeExpansion"] === true;
  return plan.volumes.flatMap(({ name, namespace, storageClass, size, accessMode }) => {
    const claim = claims.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    if (claim === undefined) {
      return [];
    }
    const { accessModes = [], storageClassName, resources } = claim["spec"] as ClaimSpec;
    const present = resources?.requests?.storage ?? "0";
    const volume = `volume ${namespace}/${name}`;
    const problems: string[] = [];
    if (storageClassName !== storageClass) {
      problems.push(
        `${volume} has the storage class "${storageClassName}", which cannot become "${storageClass}"; keep that class, or remove the volume with its data (deploy/cluster/clean)`,
      );
    }
    if (!accessModes.includes(accessMode)) {
      problems.push(
        `${volume} has the access mode ${accessModes.join(", ")}, which cannot become ${accessMode}; keep that mode, or remove the volume with its data (deploy/cluster/clean)`,
      );
    }
    if ((parseQuantity(size) ?? 0) > (parseQuantity(present) ?? 0) && !isExpandable(storageClass)) {
      problems.push(
        `${volume} has ${present} and cannot grow to ${size}: its storage class "${storageClass}" does not allow expansion (allowVolumeExpansion); keep ${present}`,
      );
    }
    return problems;
  });
};
