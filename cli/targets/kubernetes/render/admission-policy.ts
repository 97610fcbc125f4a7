import { type KubernetesObject, toName } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";

import { metadata } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";
import { servesApi } from "./versions.ts";

/** The first Kubernetes 1.x that serves admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy. */
export const ADMISSION_POLICY_MINOR = 30;

interface AdmissionRules {
  /** Last part of the policy's name. */
  readonly name: string;
  readonly resources: readonly { readonly apiGroup: string; readonly resource: string }[];
  /** CEL expressions that must be true, given the account's user name. */
  readonly validate: (account: string) => readonly { readonly expression: string; readonly message: string }[];
}

/** What one workload's service account may write, where RBAC cannot say it: nothing on a cluster that is too old for such policies. */
export function renderAdmissionPolicy(
  plan: RenderInput,
  { name: workload, namespace }: Workload,
  { name, resources, validate }: AdmissionRules,
): readonly KubernetesObject[] {
  if (!servesApi(plan, ADMISSION_POLICY_MINOR)) {
    return [];
  }
  const { settings } = plan;
  const meta = metadata(settings, toName(settings.clusterName, namespace, workload, name), undefined);
  const account = `system:serviceaccount:${namespace}:${workload}`;
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: meta,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: resources.map(({ apiGroup, resource }) => ({
            apiGroups: [apiGroup],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE", "DELETE"],
            resources: [resource],
          })),
        },
        matchConditions: [{ name: "account", expression: `request.userInfo.username == "${account}"` }],
        validations: validate(account),
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
