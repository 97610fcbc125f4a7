import { listObjects } from "../api/objects.ts";
import { RECORD_NAMESPACE } from "../state/names.ts";
import type { Check } from "./check.ts";

/** Namespaces of others in which services write Secrets: they are there, and none is the deployment's, whose Secrets are its own. */
export const checkNamespaces: Check = async ({ connection, plan }) => {
  const named = plan.workloads.flatMap(({ secretsInNamespaces }) => secretsInNamespaces?.namespaces ?? []);
  if (named.length === 0) {
    return [];
  }
  const own = new Set([RECORD_NAMESPACE, ...plan.workloads.map(({ namespace }) => namespace)]);
  const present = new Set(
    (await listObjects(connection, { apiVersion: "v1", kind: "Namespace" }, {})).map(({ metadata }) => metadata.name),
  );
  return named.flatMap((name) =>
    own.has(name)
      ? [
          `namespace ${name} of BUCKET_SECRET_NAMESPACES is the platform's own: whoever may write Secrets there could read those of its services; name another`,
        ]
      : present.has(name)
        ? []
        : [
            `the cluster has no namespace ${name}, which BUCKET_SECRET_NAMESPACES names; make it with kubectl create namespace ${name}`,
          ],
  );
};
