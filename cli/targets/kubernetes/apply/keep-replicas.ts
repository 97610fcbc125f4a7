import type { KubernetesObject } from "@swath/kubernetes";

interface ScaledSpec {
  readonly replicas?: number;
}

interface AutoscalerSpec {
  readonly minReplicas?: number;
  readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
}

const SCALED = new Set(["Deployment", "StatefulSet"]);

/**
 * Controllers with the number of pods that they have where an autoscaler decides on it, ours or anybody's; at the first start the least.
 * A number that was applied once and is left out would go back to one.
 */
export function keepReplicas(
  objects: readonly KubernetesObject[],
  live: readonly KubernetesObject[],
  autoscalers: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  const all = [...objects.filter(({ kind }) => kind === "HorizontalPodAutoscaler"), ...autoscalers];
  return objects.map((object) => {
    const { kind, metadata } = object;
    const autoscaler = !SCALED.has(kind)
      ? undefined
      : all.find((candidate) => {
          const { scaleTargetRef: target } = candidate["spec"] as AutoscalerSpec;
          return (
            candidate.metadata.namespace === metadata.namespace &&
            target?.kind === kind &&
            target.name === metadata.name
          );
        });
    if (autoscaler === undefined) {
      return object;
    }
    const present = live.find(
      (candidate) =>
        candidate.kind === kind &&
        candidate.metadata.name === metadata.name &&
        candidate.metadata.namespace === metadata.namespace,
    );
    const spec = object["spec"] as ScaledSpec;
    const replicas =
      (present?.["spec"] as ScaledSpec | undefined)?.replicas ??
      spec.replicas ??
      (autoscaler["spec"] as AutoscalerSpec).minReplicas ??
      1;
    return { ...object, spec: { ...spec, replicas } };
  });
}
