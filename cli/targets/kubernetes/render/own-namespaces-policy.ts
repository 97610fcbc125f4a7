import { type KubernetesObject, namespaceRoleName } from "@swath/kubernetes";
import type { OwnNamespaces, Workload } from "@swath/manifest";

import { renderAdmissionPolicy } from "./admission-policy.ts";
import { keys } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";

/**
 * RBAC cannot say "namespaces with this label". The API server's admission can: the account's writes to namespaces and
 * RoleBindings are refused everywhere but in namespaces that are its own.
 */
export function renderOwnNamespacesPolicy(
  plan: RenderInput,
  workload: Workload,
  { label, bindsRoles }: OwnNamespaces,
): readonly KubernetesObject[] {
  const { settings } = plan;
  const { name, namespace } = workload;
  const role = namespaceRoleName(settings.clusterName, namespace, name);
  const isOwn = (object: string, objectName: string) =>
    `has(${object}.metadata.labels) && ${object}.metadata.labels[?"${label}"].orValue("") == ${objectName}` +
    ` && ${object}.metadata.labels[?"${keys.deployment}"].orValue("") == "${settings.clusterName}"`;
  const isNamespace = 'request.resource.resource == "namespaces"';
  return renderAdmissionPolicy(plan, workload, {
    name: "own-namespaces",
    resources: [
      { apiGroup: "", resource: "namespaces" },
      { apiGroup: "rbac.authorization.k8s.io", resource: "rolebindings" },
    ],
    validate: (account) => [
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
  });
}
