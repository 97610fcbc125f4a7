import { ACCOUNT_FOLDER } from "@swath/kubernetes/account";
import { defineSettings } from "@swath/service";

/** Settings of tools that run as pods. */
export const podSettings = defineSettings({
  EXECUTOR: {
    kind: "string",
    oneOf: ["local", "pods"],
    default: "local",
    description:
      "What runs tools: this machine (processes, CONTAINER_ENGINE), or pods of the cluster that the service runs in.",
  },
  POD_VOLUME_CLAIM: {
    kind: "string",
    default: "ades",
    description: "Volume claim that is mounted at DATA_DIR; pods of tools mount it too.",
  },
  POD_PLACEMENT: {
    kind: "string",
    oneOf: ["beside", "anywhere"],
    default: "beside",
    description:
      "beside: on the service's node, as a volume needs that only one node can mount; anywhere: the volume is ReadWriteMany.",
  },
  POD_FILES: {
    kind: "string",
    oneOf: ["volume", "object-store"],
    default: "volume",
    description:
      "How files reach pods of tools: volume: they mount POD_VOLUME_CLAIM; object-store: each fetches its inputs and stores its outputs through the blob agent of its node, and may be on any node.",
  },
  STEP_FILES_URL: {
    kind: "string",
    optional: true,
    description: "The blob agents, as pods of tools reach that of their node (object-store).",
  },
  STEP_FILES_BUCKET: {
    kind: "string",
    default: "processing-steps",
    description: "Bucket with files of steps (object-store); made when it is missing.",
  },
  STEP_FILES_S3_ENDPOINT: {
    kind: "string",
    optional: true,
    description: "Object storage that the bucket is in (object-store); S3_ENDPOINT when left out.",
  },
  STEP_FILES_S3_REGION: { kind: "string", optional: true, description: "Its region; S3_REGION when left out." },
  STEP_FILES_S3_ACCESS_KEY: {
    kind: "string",
    optional: true,
    description:
      "Access key for the bucket; made of STEP_FILES_S3_SECRET_KEY when left out, as the task `ades-buckets` makes it.",
  },
  STEP_FILES_S3_SECRET_KEY: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Its secret; the keys of STAGEOUT_BUCKET are used when it is left out.",
  },
  STEP_FILES_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Key that the tokens of jobs for the blob agents are signed with (object-store).",
  },
  POD_DEFAULT_IMAGE: {
    kind: "string",
    optional: true,
    description: "Image of tools that name none; without it such tools are refused.",
  },
  POD_PULL_SECRETS: {
    kind: "string",
    default: "",
    description: "Secrets of the namespace with which images of tools are pulled, separated by commas.",
  },
  POD_NODE_SELECTOR: {
    kind: "string",
    optional: true,
    description: "Labels of the nodes that pods of tools run on: `disk=ssd,zone=a`.",
  },
  POD_TOLERATIONS: {
    kind: "string",
    optional: true,
    description: "Taints of nodes that pods of tools tolerate: `KEY[=VALUE][:EFFECT]`, separated by commas.",
  },
  POD_PRIORITY_CLASS: { kind: "string", optional: true, description: "Priority class of pods of tools." },
  POD_QUEUE: {
    kind: "string",
    optional: true,
    description: "LocalQueue of Kueue in the namespace of the pods, in which they wait for their turn.",
  },
  POD_CPU_PERCENT: {
    kind: "integer",
    default: 100,
    minimum: 1,
    maximum: 100,
    description: "Share of the cores a tool asks for that the cluster has to keep free for it.",
  },
  POD_PATIENCE: {
    kind: "duration",
    default: "1h",
    minimum: 1,
    description: "How long a pod may wait for room in the cluster.",
  },
  KUBERNETES_API: { kind: "url", default: "https://kubernetes.default.svc", description: "The cluster's API server." },
  KUBERNETES_ACCOUNT: {
    kind: "string",
    default: ACCOUNT_FOLDER,
    description: "Folder of the service account: token, ca.crt, namespace.",
  },
});
