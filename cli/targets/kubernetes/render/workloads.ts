import { hashOf, toName, type KubernetesObject } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";
import type { Plan } from "../../../platform/plan.ts";
import { metadata, selectorOf } from "./labels.ts";
import { renderPod } from "./pod.ts";
import { servesApi } from "./versions.ts";

/** Everything one workload is on a cluster: its controller, Service, disruption budget, account and rights. */
export function renderWorkload(
  plan: Plan,
  workload: Workload,
  configs: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return [
    workload.kind === "task" ? renderJob(plan, workload, configs) : renderController(plan, workload, configs),
    ...renderService(plan, workload),
    ...renderBudget(plan, workload),
    ...renderRights(plan, workload),
  ];
}

/** A Deployment; a StatefulSet where two at once would write the same volume, because only that waits for the old one's end. */
function renderController(plan: Plan, workload: Workload, configs: readonly KubernetesObject[]): KubernetesObject {
  const { name, namespace, replicas = 1, strategy = "rolling", mounts = [] } = workload;
  const shared = {
    replicas,
    selector: { matchLabels: selectorOf(name) },
    template: renderPod(plan, workload, configs),
  };
  const meta = metadata(plan.settings, name, namespace, { labels: selectorOf(name) });
  if (strategy === "recreate" && mounts.length > 0) {
    return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: meta, spec: { ...shared, serviceName: name } };
  }
  const rolling = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta,
    spec: { ...shared, revisionHistoryLimit: 3, strategy: strategy === "recreate" ? { type: "Recreate" } : rolling },
  };
}

/** The name holds a hash of the definition, since a Job cannot change: a new definition is a new Job. */
function renderJob(plan: Plan, workload: Workload, configs: readonly KubernetesObject[]): KubernetesObject {
  const template = renderPod(plan, workload, configs);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata(plan.settings, toName(workload.name, hashOf(template)), workload.namespace, {
      labels: selectorOf(workload.name),
    }),
    spec: { backoffLimit: 10, template },
  };
}

function renderService(plan: Plan, { name, namespace, ports = [] }: Workload): readonly KubernetesObject[] {
  if (ports.length === 0) {
    return [];
  }
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata(plan.settings, name, namespace, { labels: selectorOf(name) }),
      spec: {
        selector: selectorOf(name),
        ports: ports.map((port) => ({ name: port.name, port: port.number, targetPort: port.name, protocol: "TCP" })),
      },
    },
  ];
}

function renderBudget(plan: Plan, { name, namespace, kind, replicas = 1 }: Workload): readonly KubernetesObject[] {
  if (kind !== "service" || replicas < 2) {
    return [];
  }
  return [
    {
      apiVersion: servesApi(plan.settings, 21) ? "policy/v1" : "policy/v1beta1",
      kind: "PodDisruptionBudget",
      metadata: metadata(plan.settings, name, namespace),
      spec: { minAvailable: 1, selector: { matchLabels: selectorOf(name) } },
    },
  ];
}

function renderRights(plan: Plan, { name, namespace, clusterRole }: Workload): readonly KubernetesObject[] {
  if (clusterRole === undefined) {
    return [];
  }
  const isCluster = clusterRole.scope === "cluster";
  const roleKind = isCluster ? "ClusterRole" : "Role";
  const roleName = isCluster ? toName(plan.settings.clusterName, namespace, name) : name;
  const meta = metadata(plan.settings, roleName, isCluster ? undefined : namespace);
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: metadata(plan.settings, name, namespace),
      automountServiceAccountToken: false,
    },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: roleKind, metadata: meta, rules: clusterRole.rules },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: `${roleKind}Binding`,
      metadata: meta,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: roleKind, name: roleName },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}
