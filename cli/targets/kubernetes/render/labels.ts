import type { Metadata } from "@swath/kubernetes";
import type { PlatformSettings } from "@swath/manifest";

/** Keys of labels and annotations that this deployment reads again. */
export const keys = {
  deployment: "swath.io/deployment",
  namespace: "swath.io/namespace",
  /** On a Secret: JSON that says how apply fills its missing entries, once. */
  generate: "swath.io/generate",
  /** On a pod: changes when a Secret or ConfigMap it reads does. */
  configHash: "swath.io/config-hash",
  /** On a pod: version of its program; while that is the same, apply leaves the image alone. */
  keepImageOf: "swath.io/keep-image-of",
  /** On a namespace: it was there before the deployment and stays after it. */
  foreign: "swath.io/existed-before",
} as const;

export type Labels = Readonly<Record<string, string>>;

export function commonLabels({ clusterName }: Pick<PlatformSettings, "clusterName">): Labels {
  return {
    "app.kubernetes.io/part-of": "swath",
    "app.kubernetes.io/managed-by": "swath",
    [keys.deployment]: clusterName,
  };
}

/** What selects the pods of one workload; it never changes, as selectors may not. */
export function selectorOf(workload: string): Labels {
  return { "app.kubernetes.io/name": workload };
}

export function metadata(
  settings: PlatformSettings,
  name: string,
  namespace: string | undefined,
  more: { readonly labels?: Labels; readonly annotations?: Readonly<Record<string, string>> } = {},
): Metadata {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...commonLabels(settings), "app.kubernetes.io/instance": settings.clusterName, ...more.labels },
    ...(more.annotations === undefined ? {} : { annotations: more.annotations }),
  };
}
