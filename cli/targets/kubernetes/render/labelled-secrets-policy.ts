import type { KubernetesObject } from "@swath/kubernetes";
import type { SecretsInNamespaces, Workload } from "@swath/manifest";

import { renderAdmissionPolicy } from "./admission-policy.ts";
import type { RenderInput } from "./render-input.ts";

/**
 * RBAC cannot say "Secrets with this label". The API server's admission can: the account changes no other Secret, and makes none of a
 * type that the cluster itself fills, as it does those of service accounts.
 */
export function renderLabelledSecretsPolicy(
  plan: RenderInput,
  workload: Workload,
  { label }: SecretsInNamespaces,
): readonly KubernetesObject[] {
  const isLabelled = (object: string) =>
    `${object} == null || (has(${object}.metadata.labels) && "${label}" in ${object}.metadata.labels)`;
  return renderAdmissionPolicy(plan, workload, {
    name: "labelled-secrets",
    resources: [{ apiGroup: "", resource: "secrets" }],
    validate: (account) => [
      {
        expression: `(${isLabelled("object")}) && (${isLabelled("oldObject")})`,
        message: `${account} may only write Secrets that carry the label ${label}`,
      },
      {
        expression: 'object == null || !has(object.type) || object.type == "Opaque"',
        message: `${account} may only write Secrets of type Opaque`,
      },
    ],
  });
}
