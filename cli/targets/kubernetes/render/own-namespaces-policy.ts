import { type KubernetesObject, WORKSPACE_LABEL } from "@swath/kubernetes";
import type { OwnNamespaces, Workload } from "@swath/manifest";

import { listMakers } from "../../../platform/plan-namespaces.ts";
import { renderAdmissionPolicy } from "./admission-policy.ts";
import { keys } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";

/**
 * RBAC cannot say "namespaces with this label". The API server's admission can: the account makes and changes no other namespaces, and binds
 * Roles to accounts of the same namespace alone.
 */
export function renderOwnNamespacesPolicy(
  plan: RenderInput,
  workload: Workload,
  { label, bindsRoles }: OwnNamespaces,
): readonly KubernetesObject[] {
  const isOwn = (object: string, objectName: string) => isLabelled(plan, label, object, objectName);
  const isNamespace = 'request.resource.resource == "namespaces"';
  return renderAdmissionPolicy(plan, workload, {
    name: "own-namespaces",
    resources: [{ apiGroup: "", resource: "namespaces" }, ...(bindsRoles === true ? [ROLE_BINDINGS] : [])],
    validate: (account) => [
      {
        expression: `!(${isNamespace}) || object == null || (${isOwn("object", "object.metadata.name")})`,
        message: `${account} may only make namespaces that carry the label ${label}`,
      },
      {
        expression: `!(${isNamespace}) || oldObject == null || (${isOwn("oldObject", "oldObject.metadata.name")})`,
        message: `${account} may only change namespaces that carry the label ${label}`,
      },
      ...(bindsRoles === true
        ? [
            {
              expression: `${isNamespace} || (${isOwn("namespaceObject", "namespaceObject.metadata.name")})`,
              message: `${account} may only bind roles in namespaces that carry the label ${label}`,
            },
            {
              expression:
                `${isNamespace} || object == null || (object.roleRef.kind == "Role" && object.subjects.all(s,` +
                ` s.kind == "ServiceAccount" && (!has(s.namespace) || s.namespace == request.namespace)))`,
              message: `${account} may only bind accounts of the namespace to its Roles`,
            },
          ]
        : []),
    ],
  });
}

/** The namespace binder is held to what it is for, should it ever do something else: the makers, their roles, their namespaces. */
export function renderBinderPolicy(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const pairs = listMakers(plan.settings, plan.workloads).map(
    ({ workload: { name, namespace }, role }) =>
      `(object.roleRef.kind == "ClusterRole" && object.roleRef.name == "${role}" && object.subjects.all(s,` +
      ` s.kind == "ServiceAccount" && s.name == "${name}" && s.namespace == "${namespace}"))`,
  );
  return renderAdmissionPolicy(plan, workload, {
    name: "own-namespaces",
    resources: [ROLE_BINDINGS],
    validate: (account) => [
      {
        expression: isLabelled(plan, WORKSPACE_LABEL, "namespaceObject", "namespaceObject.metadata.name"),
        message: `${account} may only bind roles in namespaces that carry the label ${WORKSPACE_LABEL}`,
      },
      {
        expression: `object == null || ${pairs.join(" || ")}`,
        message: `${account} may only bind services that make namespaces to the roles that are theirs`,
      },
    ],
  });
}

const ROLE_BINDINGS = { apiGroup: "rbac.authorization.k8s.io", resource: "rolebindings" };

const isLabelled = ({ settings }: RenderInput, label: string, object: string, objectName: string): string =>
  `has(${object}.metadata.labels) && ${object}.metadata.labels[?"${label}"].orValue("") == ${objectName}` +
  ` && ${object}.metadata.labels[?"${keys.deployment}"].orValue("") == "${settings.clusterName}"`;
