import { type JsonValue, parseLabels, parseToleration } from "@swath/kubernetes";
import type { PlatformSettings, Workload } from "@swath/manifest";

import { selectorOf } from "./labels.ts";

/** Where the pods of a workload run, and with which priority and pull secrets: fields of a pod's spec. */
export function renderPlacement(
  { variables }: Pick<PlatformSettings, "variables">,
  workload: Workload,
): Readonly<Record<string, JsonValue>> {
  const {
    IMAGE_PULL_SECRETS: pullSecrets,
    POD_NODE_SELECTOR: nodeSelector,
    POD_TOLERATIONS: tolerations,
    POD_PRIORITY_CLASS: priorityClass,
  } = variables;
  return {
    ...(pullSecrets !== undefined && { imagePullSecrets: pullSecrets.split(",").map((name) => ({ name })) }),
    ...(nodeSelector !== undefined &&
      workload.onEveryNode === undefined && { nodeSelector: parseLabels(nodeSelector) }),
    ...(tolerations !== undefined && { tolerations: tolerations.split(",").map(parseToleration) }),
    ...(priorityClass !== undefined && { priorityClassName: priorityClass }),
    // The loss of one node must not take every replica; a cluster of one node can still run them all.
    ...(workload.kind === "service" &&
      workload.onEveryNode === undefined && {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: selectorOf(workload.name) },
          },
        ],
      }),
  };
}
