import { type KubernetesObject, toName } from "@swath/kubernetes";
import type { SecretsInNamespaces, Workload } from "@swath/manifest";

import { metadata } from "./labels.ts";
import { ADMISSION_POLICY_MINOR } from "./own-namespaces-policy.ts";
import type { RenderInput } from "./render-input.ts";
import { servesApi } from "./versions.ts";

/**
 * RBAC cannot say "Secrets with this label". The API server's admission can: the account changes no other Secret, and makes none of a
 * type that the cluster itself fills, as it does those of service accounts.
 */
export function renderLabelledSecretsPolicy(
  plan: RenderInput,
  { name, namespace }: Workload,
  { label }: SecretsInNamespaces,
): readonly KubernetesObject[] {
  if (!servesApi(plan, ADMISSION_POLICY_MINOR)) {
    return [];
  }
  const { settings } = plan;
  const meta = metadata(settings, toName(settings.clusterName, namespace, name, "labelled-secrets"), undefined);
  const account = `system:serviceaccount:${namespace}:${name}`;
  const isLabelled = (object: string) =>
    `${object} == null || (has(${object}.metadata.labels) && "${label}" in ${object}.metadata.labels)`;
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: meta,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [""],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE", "DELETE"],
              resources: ["secrets"],
            },
          ],
        },
        matchConditions: [{ name: "account", expression: `request.userInfo.username == "${account}"` }],
        validations: [
          {
            expression: `(${isLabelled("object")}) && (${isLabelled("oldObject")})`,
            message: `${account} may only write Secrets that carry the label ${label}`,
          },
          {
            expression: 'object == null || !has(object.type) || object.type == "Opaque"',
            message: `${account} may only write Secrets of type Opaque`,
          },
        ],
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: meta,
      spec: { policyName: meta.name, validationActions: ["Deny"] },
    },
  ];
}
