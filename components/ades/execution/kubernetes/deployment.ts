import {
  type ClusterRole,
  type ConfigMap,
  type DeployContext,
  type EnvValue,
  type PlatformSettings,
  type PodNetwork,
  type Workload,
  toBytes,
} from "@swath/manifest";

import { podKeys } from "./pod-types.ts";

const IMAGES = "ades-images";
const AGENT = "ades-blobs";
const AGENT_PORT = 8090;
/** What the service signs the tokens of jobs with, and the agents know them by. */
const FILES_SECRET = { kind: "generated", name: "ades-step-files", bytes: 32 } as const;

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
export function toPodSettings({ settings }: DeployContext, namespace: string): Record<string, EnvValue> {
  const { variables } = settings;
  const { ADES_STORAGE_ACCESS: access, PROCESSING_PULL_SECRETS: pullSecrets } = variables;
  return {
    EXECUTOR: { onKubernetes: "pods" },
    POD_VOLUME_CLAIM: { onKubernetes: "ades" },
    POD_PLACEMENT: { onKubernetes: access === "ReadWriteMany" ? "anywhere" : "beside" },
    POD_DEFAULT_IMAGE: { onKubernetes: { configMap: IMAGES, key: "tools" } },
    ...(usesAgents(settings) && {
      POD_FILES: { onKubernetes: "object-store" },
      STEP_FILES_URL: { onKubernetes: `http://${AGENT}.${namespace}.svc:${AGENT_PORT}` },
      STEP_FILES_SECRET: FILES_SECRET,
    }),
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
export function createToolNetworks(settings: PlatformSettings, namespace: string): readonly PodNetwork[] {
  const agents = usesAgents(settings) ? { workloads: [AGENT] } : {};
  return [
    { name: "tools-without-network", namespace, pods: { [podKeys.network]: "none" }, egress: "none", ...agents },
    { name: "tools-with-network", namespace, pods: { [podKeys.network]: "open" }, egress: "internet", ...agents },
  ];
}

/** Whether files of steps go through the object storage; on the embedded cluster there are no pods. */
function usesAgents({ variables }: PlatformSettings): boolean {
  const isEmbedded = variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded";
  return variables.PROCESSING_STEP_FILES === "object-store" && !isEmbedded;
}

/**
 * The blob agent of each node: it alone has keys of the object storage, and hands files to the containers beside tools.
 * @param storage how it finds the object storage, as the service does
 */
export function createAgents(
  { settings }: DeployContext,
  namespace: string,
  storage: Readonly<Record<string, EnvValue>>,
): readonly Workload[] {
  if (!usesAgents(settings)) {
    return [];
  }
  const { S3_ENDPOINT, S3_REGION = "us-east-1", S3_ACCESS_KEY = "", S3_SECRET_KEY = "" } = storage;
  if (S3_ENDPOINT === undefined) {
    throw new Error(
      "PROCESSING_STEP_FILES=object-store needs an object storage: REQUIRE_OBJSTORE or OBJSTORE_ENDPOINT",
    );
  }
  const cacheMiB = Math.max(64, Math.floor(toBytes(settings.variables.PROCESSING_NODE_CACHE) / 2 ** 20));
  return [
    {
      name: AGENT,
      namespace,
      component: "ades",
      entry: "blob-agent/main",
      kind: "service",
      onEveryNode: true,
      env: {
        S3_ENDPOINT,
        S3_REGION,
        S3_ACCESS_KEY,
        S3_SECRET_KEY,
        STEP_FILES_SECRET: FILES_SECRET,
        STEP_FILES_SECRET_ALSO: { also: FILES_SECRET },
        CACHE_DIR: "/tmp/blobs",
        CACHE_MIB: String(cacheMiB),
      },
      ports: [{ name: "http", number: AGENT_PORT }],
      clusterRole: {
        scope: "namespace",
        // When tools end, and the node of its own pod.
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }],
      },
      calledByPods: podKeys.run,
      resources: { requests: { cpu: "20m", memory: "128Mi" }, limits: { memory: "512Mi" } },
    },
  ];
}
