import { type KubernetesObject, namespaceRoleName, secretsRoleName, toName } from "@swath/kubernetes";
import type { PolicyRule, Workload } from "@swath/manifest";

import { listMakers } from "../../../platform/plan-namespaces.ts";
import { metadata } from "./labels.ts";
import { renderLabelledSecretsPolicy } from "./labelled-secrets-policy.ts";
import { renderBinderPolicy, renderOwnNamespacesPolicy } from "./own-namespaces-policy.ts";
import type { RenderInput } from "./render-input.ts";

const RBAC = "rbac.authorization.k8s.io";

/** Whether a workload uses the Kubernetes API, and so has an account of its own. */
export function usesKubernetesApi({
  clusterRole,
  deploymentRules,
  secretsInNamespaces,
  ownNamespaces,
  bindsOwnNamespaces,
}: Workload): boolean {
  return [clusterRole, deploymentRules, secretsInNamespaces, ownNamespaces, bindsOwnNamespaces].some(
    (provided) => provided !== undefined,
  );
}

/** The account of a workload and everything that it may do. */
export function renderRights(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  if (!usesKubernetesApi(workload)) {
    return [];
  }
  const { name, namespace, clusterRole } = workload;
  const { settings } = plan;
  const isCluster = clusterRole?.scope === "cluster";
  const rules = [
    ...(isCluster ? clusterRole.rules : []),
    ...renderMakerRules(workload),
    ...renderBinderRules(plan, workload),
  ];
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: metadata(settings, name, namespace),
      automountServiceAccountToken: false,
    },
    ...(clusterRole?.scope === "namespace" ? renderNamespaceRole(plan, workload, clusterRole.rules) : []),
    ...(rules.length > 0 ? renderClusterRole(plan, workload, rules) : []),
    ...renderDeploymentRole(plan, workload),
    ...renderSecretsInNamespaces(plan, workload),
    ...renderOwnNamespaces(plan, workload),
    ...(workload.bindsOwnNamespaces === true ? renderBinderPolicy(plan, workload) : []),
  ];
}

function renderNamespaceRole(
  { settings }: RenderInput,
  { name, namespace }: Workload,
  rules: readonly PolicyRule[],
): readonly KubernetesObject[] {
  const meta = metadata(settings, name, namespace);
  return [
    { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: meta, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: meta,
      roleRef: { apiGroup: RBAC, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

function renderClusterRole(
  { settings }: RenderInput,
  { name, namespace }: Workload,
  rules: readonly PolicyRule[],
): readonly KubernetesObject[] {
  const roleName = toName(settings.clusterName, namespace, name);
  const meta = metadata(settings, roleName, undefined);
  return [
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: meta, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: meta,
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: roleName },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** One ClusterRole, bound in each namespace of the deployment. */
function renderDeploymentRole(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, deploymentRules: rules } = workload;
  const role = toName(plan.settings.clusterName, namespace, name, "deployment");
  const namespaces = [...new Set(plan.workloads.map((other) => other.namespace))];
  return rules === undefined ? [] : renderRoleIn(plan, workload, { role, rules, namespaces });
}

/** One ClusterRole, bound in each namespace that was named, and to be bound by others in theirs. */
function renderSecretsInNamespaces(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, secretsInNamespaces: provided } = workload;
  if (provided === undefined) {
    return [];
  }
  const role = secretsRoleName(plan.settings.clusterName, namespace, name);
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch", "delete"] }];
  return [
    ...renderRoleIn(plan, workload, { role, rules, namespaces: provided.namespaces }),
    ...renderLabelledSecretsPolicy(plan, workload, provided),
  ];
}

function renderRoleIn(
  { settings }: RenderInput,
  { name, namespace }: Workload,
  provided: { readonly role: string; readonly rules: readonly PolicyRule[]; readonly namespaces: readonly string[] },
): readonly KubernetesObject[] {
  const { role: roleName, rules, namespaces } = provided;
  return [
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: metadata(settings, roleName, undefined), rules },
    ...namespaces.toSorted().map((where): KubernetesObject => ({
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: metadata(settings, roleName, where),
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: roleName },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    })),
  ];
}

/** What it takes to make namespaces: none that exists can be changed, so that none of others gets a label. */
function renderMakerRules({ ownNamespaces }: Workload): readonly PolicyRule[] {
  return ownNamespaces === undefined ? [] : [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "create"] }];
}

/** What it takes to bind the makers of namespaces to their roles, and to no other role. */
function renderBinderRules(plan: RenderInput, { bindsOwnNamespaces }: Workload): readonly PolicyRule[] {
  return bindsOwnNamespaces !== true
    ? []
    : [
        { apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] },
        { apiGroups: [RBAC], resources: ["rolebindings"], verbs: ["get", "list", "create", "patch"] },
        {
          apiGroups: [RBAC],
          resources: ["clusterroles"],
          verbs: ["bind"],
          resourceNames: listMakers(plan.settings, plan.workloads).map(({ role }) => role),
        },
      ];
}

function renderOwnNamespaces(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, ownNamespaces } = workload;
  return ownNamespaces === undefined
    ? []
    : [
        {
          apiVersion: `${RBAC}/v1`,
          kind: "ClusterRole",
          metadata: metadata(plan.settings, namespaceRoleName(plan.settings.clusterName, namespace, name), undefined),
          rules: ownNamespaces.rules,
        },
        ...renderOwnNamespacesPolicy(plan, workload, ownNamespaces),
      ];
}
