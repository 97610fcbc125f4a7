import { listObjects } from "../api/objects.ts";
import { keys } from "../render/labels.ts";
import type { Check } from "./check.ts";

/** The namespaces have fixed names, so a cluster takes one deployment. */
export const checkOwnership: Check = async ({ connection, plan }) => {
  const namespaces = await listObjects(
    connection,
    { apiVersion: "v1", kind: "Namespace" },
    { labels: `${keys.deployment},app.kubernetes.io/managed-by=swath` },
  );
  const { clusterName } = plan.settings;
  const others = new Set(
    namespaces.map(({ metadata }) => metadata.labels?.[keys.deployment]).filter((name) => name !== clusterName),
  );
  return [...others].map(
    (name) =>
      `the cluster has a deployment named "${name}" already; use that name, or remove it first: deploy/swath/swath.sh delete ${name}, then deploy/cluster/clean ${name}`,
  );
};
