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
/** Makes the buckets, and the keys that the service and the agents have. */
const BUCKETS = "ades-buckets";
/** Keys of the buckets of files of steps and of results, where the object storage is the deployment's own. */
const STEP_FILES_KEY = { kind: "generated", name: "ades-step-files-key", bytes: 32 } as const;
const RESULTS_KEY = { kind: "generated", name: "ades-results-key", bytes: 32 } as const;
/** What the service signs the tokens of jobs with, and the agents know them by. */
const FILES_SECRET = { kind: "generated", name: "ades-step-files", bytes: 32 } as const;

/** What the service may do with the API, in its own namespace: start, find, follow and end pods. */
export const TOOL_PODS_ROLE: ClusterRole = {
  scope: "namespace",
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "delete"] },
    { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
    // What tools use, where the cluster measures it.
    { apiGroups: ["metrics.k8s.io"], resources: ["pods"], verbs: ["get"] },
    // Why Kueue holds tools back, where it does.
    { apiGroups: ["kueue.x-k8s.io"], resources: ["workloads"], verbs: ["list"] },
    // What tools' images are pulled with; it reads none.
    { apiGroups: [""], resources: ["secrets"], verbs: ["create", "delete"] },
  ],
};

/** Variables by which the service runs tools as pods, where there is a cluster to run them. */
export function toPodSettings(context: DeployContext, namespace: string): Record<string, EnvValue> {
  const { settings } = context;
  const { variables } = settings;
  const { ADES_STORAGE_ACCESS: access } = variables;
  const ofOperator = {
    POD_PULL_SECRETS: variables.PROCESSING_PULL_SECRETS,
    POD_NODE_SELECTOR: variables.PROCESSING_NODE_SELECTOR,
    POD_TOLERATIONS: variables.PROCESSING_TOLERATIONS,
    POD_PRIORITY_CLASS: variables.PROCESSING_PRIORITY_CLASS,
    POD_QUEUE: variables.PROCESSING_QUEUE,
  };
  return {
    EXECUTOR: { onKubernetes: "pods" },
    POD_VOLUME_CLAIM: { onKubernetes: "ades" },
    POD_PLACEMENT: { onKubernetes: access === "ReadWriteMany" ? "anywhere" : "beside" },
    POD_DEFAULT_IMAGE: { onKubernetes: { configMap: IMAGES, key: "tools" } },
    ...(usesAgents(settings) && {
      POD_FILES: { onKubernetes: "object-store" },
      STEP_FILES_URL: { onKubernetes: `http://${AGENT}.${namespace}.svc:${AGENT_PORT}` },
      STEP_FILES_SECRET: FILES_SECRET,
      ...Object.fromEntries(
        Object.entries(toStepStorage(context)).map(([name, value]) => [`STEP_FILES_${name}`, value]),
      ),
    }),
    ...Object.fromEntries(
      Object.entries(ofOperator).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, { onKubernetes: value }] as const],
      ),
    ),
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
 * Where files of steps are, and the key of that bucket: the deployed object storage, else the operator's, where the operator says which
 * key; the platform's when none is named.
 */
function toStepStorage({ settings: { variables }, isEnabled }: DeployContext): Readonly<Record<string, EnvValue>> {
  const S3_REGION = variables.OBJSTORE_REGION;
  if (isEnabled("objstore")) {
    return { S3_ENDPOINT: { peer: "objstore" }, S3_REGION, S3_SECRET_KEY: STEP_FILES_KEY };
  }
  if (variables.OBJSTORE_ENDPOINT === undefined) {
    throw new Error(
      "PROCESSING_STEP_FILES=object-store needs an object storage: REQUIRE_OBJSTORE or OBJSTORE_ENDPOINT",
    );
  }
  const { PROCESSING_STEP_ACCESS_KEY: own, PROCESSING_STEP_SECRET_KEY: secret } = variables;
  return {
    S3_ENDPOINT: variables.OBJSTORE_ENDPOINT,
    S3_REGION,
    S3_ACCESS_KEY: own ?? variables.OBJSTORE_ROOT_USER,
    S3_SECRET_KEY: secret ?? variables.OBJSTORE_ROOT_PASSWORD,
  };
}

/** Where the service needs no more of the deployed object storage than the bucket of results, its key is of that bucket alone. */
export function narrowStorage(
  { settings, isEnabled }: DeployContext,
  storage: Readonly<Record<string, EnvValue>>,
): Record<string, EnvValue> {
  if (!usesAgents(settings) || !isEnabled("objstore")) {
    return storage;
  }
  const { S3_ACCESS_KEY: _, ...rest } = storage;
  return { ...rest, S3_SECRET_KEY: RESULTS_KEY };
}

/** Workloads that have to be there before the service, for the keys that it has. */
export const storageNeeds = ({ settings, isEnabled }: DeployContext): readonly string[] =>
  usesAgents(settings) && isEnabled("objstore") ? [BUCKETS] : [];

/** The blob agent of each node, which hands files to the containers beside tools, and the task that makes its key and the service's. */
export function createAgents(context: DeployContext, namespace: string): readonly Workload[] {
  const { settings } = context;
  if (!usesAgents(settings)) {
    return [];
  }
  const { variables } = settings;
  const needs = storageNeeds(context);
  const buckets: readonly Workload[] = needs.map((name) => ({
    name,
    namespace,
    component: "ades",
    entry: "bucket-keys/main",
    kind: "task",
    env: {
      OBJSTORE_ADMIN_URL: { peer: "objstore", port: "console" },
      OBJSTORE_ROOT_USER: variables.OBJSTORE_ROOT_USER,
      OBJSTORE_ROOT_PASSWORD: variables.OBJSTORE_ROOT_PASSWORD,
      RESULTS_KEY,
      RESULTS_KEY_ALSO: { also: RESULTS_KEY },
      STEP_FILES_KEY,
      STEP_FILES_KEY_ALSO: { also: STEP_FILES_KEY },
    },
    needs: ["objstore"],
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
  }));
  const cacheMiB = Math.max(64, Math.floor(toBytes(variables.PROCESSING_NODE_CACHE) / 2 ** 20));
  return [
    ...buckets,
    {
      name: AGENT,
      namespace,
      component: "ades",
      entry: "blob-agent/main",
      kind: "service",
      onEveryNode: true,
      env: {
        ...toStepStorage(context),
        STEP_FILES_SECRET: FILES_SECRET,
        STEP_FILES_SECRET_ALSO: { also: FILES_SECRET },
        CACHE_DIR: "/tmp/blobs",
        CACHE_MIB: String(cacheMiB),
      },
      ports: [{ name: "http", number: AGENT_PORT }],
      needs,
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
