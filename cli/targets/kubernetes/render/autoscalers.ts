import type { KubernetesObject } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";

import { metadata } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";
import { minorVersion } from "./versions.ts";

/** A service is one thread and more for files and digests: beyond this requests wait for each other. */
const CPU_OF_A_POD = "700m";

/** The API of HorizontalPodAutoscalers in Kubernetes 1.`minor`. */
export const autoscalingVersion = (minor: number): string => (minor >= 23 ? "autoscaling/v2" : "autoscaling/v2beta2");

/** Whether any number of pods of a workload may run: what rolls over runs two at once anyway, what owns a volume never does. */
export function isScalable({ kind, replicas, onEveryNode, strategy = "rolling", mounts = [] }: Workload): boolean {
  return (
    onEveryNode === undefined &&
    kind === "service" &&
    strategy === "rolling" &&
    mounts.length === 0 &&
    replicas === undefined
  );
}

/** Whether an autoscaler of ours decides how many pods there are. */
export function isAutoscaled({ settings: { variables } }: RenderInput, workload: Workload): boolean {
  const { SERVICE_REPLICAS: least, SERVICE_REPLICAS_MAX: most } = variables;
  return most !== undefined && most > least && isScalable(workload);
}

export function renderAutoscaler(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  if (!isAutoscaled(plan, workload)) {
    return [];
  }
  const { name, namespace } = workload;
  const { SERVICE_REPLICAS: minReplicas, SERVICE_REPLICAS_MAX: maxReplicas } = plan.settings.variables;
  return [
    {
      apiVersion: autoscalingVersion(minorVersion(plan)),
      kind: "HorizontalPodAutoscaler",
      metadata: metadata(plan.settings, name, namespace),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas,
        maxReplicas,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: CPU_OF_A_POD } } },
        ],
      },
    },
  ];
}
