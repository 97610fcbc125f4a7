import type { KubernetesObject } from "@swath/kubernetes";

import { managementPort } from "./environment.ts";
import { commonLabels, metadata } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";

/** Who may read /metrics of the pods of a namespace, and where the Prometheus operator finds them. */
export function renderMetrics(plan: RenderInput, namespace: string): readonly KubernetesObject[] {
  const { METRICS_NAMESPACE: readers, SERVICE_MONITORS: hasMonitors } = plan.settings.variables;
  if (readers === undefined) {
    return [];
  }
  const selector = { matchLabels: commonLabels(plan.settings) };
  const policy: KubernetesObject = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadata(plan.settings, "allow-metrics", namespace),
    spec: {
      podSelector: selector,
      policyTypes: ["Ingress"],
      ingress: [
        {
          // Kubernetes sets this label on every namespace since 1.21.
          from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": readers } } }],
          ports: [{ port: managementPort, protocol: "TCP" }],
        },
      ],
    },
  };
  const monitor: KubernetesObject = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: metadata(plan.settings, "swath", namespace),
    spec: {
      selector,
      podMetricsEndpoints: [{ port: "management", path: "/metrics", interval: "30s" }],
      // The series of a service are told apart by these.
      podTargetLabels: ["app.kubernetes.io/name", "app.kubernetes.io/component"],
    },
  };
  return hasMonitors ? [policy, monitor] : [policy];
}
