import { parseQuantity } from "@swath/manifest";

import { listObjects } from "../api/objects.ts";
import { selectDeployment } from "../state/names.ts";
import type { Check } from "./check.ts";

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/** What cannot be changed about a volume that was kept. */
export const checkVolumes: Check = async ({ connection, plan }) => {
  const claims = await listObjects(
    connection,
    { apiVersion: "v1", kind: "PersistentVolumeClaim" },
    { labels: selectDeployment(plan.settings.clusterName) },
  );
  return plan.volumes.flatMap(({ name, namespace, storageClass, size }) => {
    const claim = claims.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    if (claim === undefined) {
      return [];
    }
    const spec = claim["spec"] as ClaimSpec;
    const present = spec.resources?.requests?.storage ?? "0";
    return [
      ...(spec.storageClassName === storageClass
        ? []
        : [
            `volume ${namespace}/${name} has the storage class "${spec.storageClassName}", which cannot become "${storageClass}"; keep that class, or remove the volume with its data (deploy/cluster/clean)`,
          ]),
      ...((parseQuantity(present) ?? 0) > (parseQuantity(size) ?? 0)
        ? [`volume ${namespace}/${name} has ${present}, and a volume cannot shrink to ${size}`]
        : []),
    ];
  });
};
