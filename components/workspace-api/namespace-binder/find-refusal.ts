import { WORKSPACE_LABEL } from "@swath/kubernetes";

export interface Namespace {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

const ENFORCED = "pod-security.kubernetes.io/enforce";

/**
 * Why no service gets rights in this namespace; undefined where they do. Services that make namespaces choose their labels: one without
 * the restricted standard would let the hub start a privileged pod, which is the node.
 */
export function findRefusal({ metadata }: Namespace, deployment: string): string | undefined {
  const { name, labels = {} } = metadata;
  return labels[WORKSPACE_LABEL] !== name
    ? `its label ${WORKSPACE_LABEL} is not its name`
    : labels["swath.io/deployment"] !== deployment
      ? `its label swath.io/deployment is not ${deployment}`
      : labels[ENFORCED] !== "restricted"
        ? `its label ${ENFORCED} is not restricted`
        : undefined;
}
