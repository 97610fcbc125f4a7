import { hashOf, toName, type KubernetesObject } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";
import type { RenderInput } from "./render-input.ts";
import { isAutoscaled, isScalable, renderAutoscaler } from "./autoscalers.ts";
import { metadata, selectorOf } from "./labels.ts";
import { renderPod } from "./pod.ts";
import { renderRights } from "./rights.ts";
import { servesApi } from "./versions.ts";

/** Everything one workload is on a cluster: its controller, Service, disruption budget, account and rights. */
export function renderWorkload(
  plan: RenderInput,
  workload: Workload,
  configs: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return [
    workload.kind === "task" ? renderJob(plan, workload, configs) : renderController(plan, workload, configs),
    ...renderService(plan, workload),
    ...renderAutoscaler(plan, workload),
    ...renderBudget(plan, workload),
    ...renderRights(plan, workload),
  ];
}

/** A Deployment; a DaemonSet for one on each node; a StatefulSet where two at once would write the same volume, because only that waits for the old one's end. */
function renderController(
  plan: RenderInput,
  workload: Workload,
  configs: readonly KubernetesObject[],
): KubernetesObject {
  const { name, namespace, strategy = "rolling", mounts = [] } = workload;
  const shared = {
    ...(!isAutoscaled(plan, workload) && { replicas: countReplicas(plan, workload) }),
    selector: { matchLabels: selectorOf(name) },
    template: renderPod(plan, workload, configs),
  };
  const meta = metadata(plan.settings, name, namespace, { labels: selectorOf(name) });
  if (workload.onEveryNode === true) {
    const { replicas: _, ...spec } = { replicas: undefined, ...shared };
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } };
    return { apiVersion: "apps/v1", kind: "DaemonSet", metadata: meta, spec: { ...spec, updateStrategy } };
  }
  if (strategy === "recreate" && mounts.length > 0) {
    // Parallel: a pod that cannot start is replaced when its definition is mended, rather than waited for.
    const spec = { ...shared, serviceName: name, podManagementPolicy: "Parallel" };
    return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: meta, spec };
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
function renderJob(plan: RenderInput, workload: Workload, configs: readonly KubernetesObject[]): KubernetesObject {
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

function renderService(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, ports = [], onEveryNode } = workload;
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
        // Before 1.22 any node's answers, which is slower and no less right.
        ...(onEveryNode === true && servesApi(plan, 22) && { internalTrafficPolicy: "Local" }),
        ports: ports.map((port) => ({ name: port.name, port: port.number, targetPort: port.name, protocol: "TCP" })),
      },
    },
  ];
}

/** Services that roll over run two at once anyway, so they may always; what owns a volume may not. */
function countReplicas({ settings: { variables } }: RenderInput, workload: Workload): number {
  return workload.onEveryNode === true
    ? 1
    : (workload.replicas ?? (isScalable(workload) ? variables.SERVICE_REPLICAS : 1));
}

function renderBudget(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, kind } = workload;
  if (kind !== "service" || (countReplicas(plan, workload) < 2 && !isAutoscaled(plan, workload))) {
    return [];
  }
  return [
    {
      apiVersion: servesApi(plan, 21) ? "policy/v1" : "policy/v1beta1",
      kind: "PodDisruptionBudget",
      metadata: metadata(plan.settings, name, namespace),
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: selectorOf(name) },
        // A pod that is not ready anyway keeps no node from being emptied.
        ...(servesApi(plan, 27) && { unhealthyPodEvictionPolicy: "AlwaysAllow" }),
      },
    },
  ];
}
