import { type KubernetesObject, namespaceRoleName, toName } from "@swath/kubernetes";
import type { OwnNamespaces, Workload } from "@swath/manifest";

import { keys, metadata } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";
import { servesApi } from "./versions.ts";

/** The first Kubernetes 1.x that serves admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy. */
export const ADMISSION_POLICY_MINOR = 30;

/**
 * RBAC cannot say "namespaces with this label". The API server's admission can: the account's writes to namespaces and
 * RoleBindings are refused everywhere but in namespaces that are its own.
 */
export function renderOwnNamespacesPolicy(
  plan: RenderInput,
  { name, namespace }: Workload,
  { label, bindsRoles }: OwnNamespaces,
): readonly KubernetesObject[] {
  if (!servesApi(plan, ADMISSION_POLICY_MINOR)) {
    return [];
  }
  const { settings } = plan;
  const meta = metadata(settings, toName(settings.clusterName, namespace, name, "own-namespaces"), undefined);
  const account = `system:serviceaccount:${namespace}:${name}`;
  const role = namespaceRoleName(settings.clusterName, namespace, name);
  const isOwn = (object: string, objectName: string) =>
    `has(${object}.metadata.labels) && ${object}.metadata.labels[?"${label}"].orValue("") == ${objectName}` +
    ` && ${object}.metadata.labels[?"${keys.deployment}"].orValue("") == "${settings.clusterName}"`;
  const isNamespace = 'request.resource.resource == "namespaces"';
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
              resources: ["namespaces"],
            },
            {
              apiGroups: ["rbac.authorization.k8s.io"],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE", "DELETE"],
              resources: ["rolebindings"],
            },
          ],
        },
        matchConditions: [{ name: "account", expression: `request.userInfo.username == "${account}"` }],
        validations: [
          {
            expression: `!(${isNamespace}) || object == null || (${isOwn("object", "object.metadata.name")})`,
            message: `${account} may only make namespaces that carry the label ${label}`,
          },
          {
            expression: `!(${isNamespace}) || oldObject == null || (${isOwn("oldObject", "oldObject.metadata.name")})`,
            message: `${account} may only change namespaces that carry the label ${label}`,
          },
          {
            expression: `${isNamespace} || (${isOwn("namespaceObject", "namespaceObject.metadata.name")})`,
            message: `${account} may only bind roles in namespaces that carry the label ${label}`,
          },
          {
            expression:
              `${isNamespace} || object == null || (object.roleRef.kind == "ClusterRole" && object.roleRef.name == "${role}"` +
              ` && object.subjects.all(s, s.kind == "ServiceAccount" && s.name == "${name}" && s.namespace == "${namespace}"))` +
              (bindsRoles === true
                ? ` || (object.roleRef.kind == "Role" && object.subjects.all(s, s.kind == "ServiceAccount"` +
                  ` && (!has(s.namespace) || s.namespace == request.namespace)))`
                : ""),
            message:
              bindsRoles === true
                ? `${account} may only bind itself to ${role}, and accounts of the namespace to its Roles`
                : `${account} may only bind itself to ${role}`,
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
