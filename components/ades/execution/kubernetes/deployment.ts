import type { ClusterRole, ConfigMap, DeployContext, EnvValue, PodNetwork } from "@swath/manifest";

import { marks } from "./pod-types.ts";

const IMAGES = "ades-images";

/** What the service may do with the API, in its own namespace: start, find, follow and end pods. */
export const TOOL_PODS_ROLE: ClusterRole = {
  scope: "namespace",
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "delete"] },
    { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
    // What tools' images are pulled with; it reads none.
    { apiGroups: [""], resources: ["secrets"], verbs: ["create", "delete"] },
  ],
};

/** Variables by which the service runs tools as pods, where there is a cluster to run them. */
export function toPodSettings({ settings: { variables } }: DeployContext): Record<string, EnvValue> {
  const { ADES_STORAGE_ACCESS: access, PROCESSING_PULL_SECRETS: pullSecrets } = variables;
  return {
    EXECUTOR: { onKubernetes: "pods" },
    POD_VOLUME_CLAIM: { onKubernetes: "ades" },
    POD_PLACEMENT: { onKubernetes: access === "ReadWriteMany" ? "anywhere" : "beside" },
    POD_DEFAULT_IMAGE: { onKubernetes: { configMap: IMAGES, key: "tools" } },
    ...(pullSecrets !== undefined && { POD_PULL_SECRETS: { onKubernetes: pullSecrets } }),
  };
}

/** Images that the service starts pods of. */
export const createImageList = ({ settings: { variables } }: DeployContext, namespace: string): ConfigMap => ({
  name: IMAGES,
  namespace,
  data: { tools: variables.PROCESSING_ZOO_IMAGE },
});

/** Tools reach nothing, or the internet where they ask for it (NetworkAccess); nobody reaches a tool. */
export const createToolNetworks = (namespace: string): readonly PodNetwork[] => [
  { name: "tools-without-network", namespace, pods: { [marks.network]: "none" }, egress: "none" },
  { name: "tools-with-network", namespace, pods: { [marks.network]: "open" }, egress: "internet" },
];
