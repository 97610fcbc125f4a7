import { fixed, type VariableGroup } from "../define.ts";
import { baseMaps, boolean, choice, hosts, integer, secret, size, text } from "../value-types.ts";
import { labels, objectName, taints } from "./kubernetes-forms.ts";

/** Limits of processing jobs, where results go, and what else the operator may turn. */
export const processingVariables = {
  PROCESSING_MAX_RAM: {
    type: size("kubernetes"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("8Gi"),
    meaning: "Most memory one processing job may have.",
  },
  PROCESSING_MAX_CORES: {
    type: integer(1, 1024),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(4),
    meaning: "Most processor cores one processing job may have.",
  },
  PROCESSING_PULL_SECRETS: {
    type: text({
      pattern: /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(,[a-z0-9]([-a-z0-9.]*[a-z0-9])?)*$/,
      allowed: "names of Secrets, separated by commas",
    }),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning:
      "Secrets of type kubernetes.io/dockerconfigjson in the namespace zoo with which images of application packages are pulled. Kubernetes only.",
  },
  PROCESSING_NODE_SELECTOR: {
    type: labels,
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning: "Labels of the nodes that steps of processing jobs run on. Kubernetes only.",
  },
  PROCESSING_TOLERATIONS: {
    type: taints,
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning:
      "Taints of nodes that steps of processing jobs tolerate, such as those of nodes with graphics processors: KEY[=VALUE][:EFFECT]. Kubernetes only.",
  },
  PROCESSING_PRIORITY_CLASS: {
    type: objectName("a priority class"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning:
      "Priority class of the pods of processing jobs; one below that of the services keeps jobs from driving these out. Kubernetes only.",
  },
  PROCESSING_QUEUE: {
    type: objectName("a LocalQueue"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning:
      "LocalQueue of Kueue (kueue.x-k8s.io) in the namespace of the processing service, in which the pods of jobs wait until the cluster's quotas admit them, for as long as that takes. Kueue has to be installed, with its integration of plain pods. Kubernetes only.",
  },
  PROCESSING_STEP_FILES: {
    type: choice(["volume", "object-store"]),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("volume"),
    meaning:
      "How files reach the steps of jobs on Kubernetes: volume (each step's pod mounts the processing service's volume; with ReadWriteOnce all steps are on one node) or object-store (each fetches its inputs and stores its outputs through the platform's object storage, and runs on any node).",
  },
  PROCESSING_NODE_CACHE: {
    type: size("kubernetes"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("8Gi"),
    meaning:
      "Most disk of each node that keeps inputs of steps for others on the node (PROCESSING_STEP_FILES=object-store).",
  },
  PROCESSING_STEP_ACCESS_KEY: {
    type: text({ pattern: /^[\w+/=.@-]{3,128}$/, allowed: "an access key" }),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning:
      "Access key of the object storage of OBJSTORE_ENDPOINT by which files of steps are stored (PROCESSING_STEP_FILES=object-store): one that opens the bucket processing-steps alone, which must be there then. Without it the keys of OBJSTORE_ROOT_USER are used, on every node. The deployed object storage gets such a key by itself.",
  },
  PROCESSING_STEP_SECRET_KEY: {
    type: secret(),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(undefined),
    meaning: "Secret of PROCESSING_STEP_ACCESS_KEY.",
  },
  STAGEOUT_TARGET: {
    type: choice(["workspace", "objstore"], { minio: "objstore" }),
    fallback: fixed("workspace"),
    meaning:
      "Where the processing service puts results: into the user's workspace (by the workspace API), or into the object storage: there into the workspace's bucket of users who have one, into the bucket results for the others.",
  },
  CONTAINER_ENGINE: {
    type: text({
      pattern: /^(?:auto|none|podman|docker|\/\S+)$/,
      allowed: "auto, none, podman, docker, or the path of one",
    }),
    fallback: fixed("auto"),
    meaning:
      "What runs the containers of processing jobs on the embedded cluster: podman or docker, auto for the first of them that is installed, none for no containers (packages that demand one are then refused).",
  },
  PROCESSING_HOST_TOOLS: {
    type: choice(["auto", "isolated", "open", "refused"]),
    fallback: fixed("auto"),
    meaning:
      "Tools of processing jobs that name no container, on the embedded cluster: isolated (a sandbox, by bubblewrap or util-linux, shows them the system's programs and their own job's files, and no network unless PROCESSING_TOOL_NETWORK gives it), open (they may do whatever the processing service may), refused, or auto: isolated where a sandbox can be made, else refused.",
  },
  PROCESSING_HOST_TOOLS_EXPOSED: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Must be true for PROCESSING_HOST_TOOLS=open where the ingress is reachable from other machines: whoever may deploy packages can then do whatever the processing service may.",
  },
  PROCESSING_TOOL_NETWORK: {
    type: text({
      pattern: /^[^\s/,]+(?:\/[^\s/,]+)?(?:, *[^\s/,]+(?:\/[^\s/,]+)?)*$/,
      allowed: "none, all, users, and USER/PROCESS, separated by commas",
    }),
    fallback: fixed("none"),
    meaning:
      "Whose tools may use the network when their packages ask for it (NetworkAccess): none, all, or a list of users and of processes, such as eric,alice/download. On the embedded cluster it is an HTTP proxy to the internet, which tools find in http_proxy and https_proxy; never this machine, its link or hosts of the platform.",
  },
  PROCESSING_MAX_DISK: {
    type: size("kubernetes"),
    fallback: fixed("20Gi"),
    meaning:
      "Most disk that one processing job may use while it is at work: inputs, scratch files and outputs together.",
  },
  PROCESSING_MAX_PROCESSES: {
    type: integer(1, 1_000_000),
    fallback: fixed(512),
    meaning: "Most processes of one tool of a processing job on the embedded cluster.",
  },
  PROCESSING_MAX_OPEN_FILES: {
    type: integer(16, 1_000_000),
    fallback: fixed(4096),
    meaning: "Most open files of each process of a tool on the embedded cluster.",
  },
  PROCESSING_MAX_TIME: {
    type: integer(1, 31_536_000),
    fallback: fixed(86_400),
    meaning: "Most seconds that one tool of a processing job may run.",
  },
  PROCESSING_PARALLEL_JOBS: {
    type: integer(1, 64),
    fallback: fixed(undefined),
    meaning:
      "Processing jobs that one instance of the service has at work at the same time. Without it one a core, between 2 and 8; on Kubernetes 8.",
  },
  PROCESSING_USER_JOBS: {
    type: integer(1, 1000),
    fallback: fixed(undefined),
    meaning:
      "Most processing jobs of one user that are at work at the same time; without it as many as there is room for.",
  },
  PROCESSING_USER_QUEUE: {
    type: integer(1, 1_000_000),
    fallback: fixed(undefined),
    meaning:
      "Most processing jobs of one user that wait or are at work; further ones are refused (429) until one has ended. Answers say how many are left (RateLimit-Remaining).",
  },
  PROCESSING_ALLOW_PRIVATE: {
    type: hosts,
    fallback: fixed(undefined),
    meaning:
      "Private hosts and networks that application packages, inputs and subscribers of jobs may be at, such as the intranet's data server: whoever may execute processes can then send requests there. Without it none may, since a user could otherwise reach through the processing service what only its machine can reach.",
  },
  PROCESSING_JOB_RETENTION_DAYS: {
    type: integer(0, 36_500),
    fallback: fixed(0),
    meaning:
      "Days after which a processing job that has ended is forgotten, with its log; 0 keeps jobs until they are deleted.",
  },
  PROCESSING_RESULT_RETENTION: {
    type: choice(["keep", "with-job"]),
    fallback: fixed("keep"),
    meaning: "Whether what a job stored is removed when the job is deleted or forgotten (with-job) or stays (keep).",
  },
  CONTAINER_AUTH_FILE: {
    type: text({ pattern: /^\/\S+$/, allowed: "the path of a file" }),
    fallback: fixed(undefined),
    meaning:
      "File with credentials of image registries (containers-auth.json, as `podman login --authfile` writes it) for images of processing jobs on the embedded cluster.",
  },
  TEMP_FORWARDING_PORT: {
    type: integer(1, 65_535),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed(9876),
    meaning: "Port of this machine used to reach services inside Kubernetes during the deployment.",
  },
  USER_CONTENT_DOMAIN: {
    type: text({
      pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      allowed: "a domain name",
    }),
    fallback: fixed(undefined),
    meaning:
      "Domain of the hosts that hold what users upload (the object storage: objstore.<domain>), beside that of the platform: no login of the platform is sent there by browsers. Names below it must resolve to the same address. Unset: below the domain of the platform, where what might act as a page is sandboxed.",
  },
  WILDCARD_DNS_SUFFIX: {
    type: text({
      pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      allowed: "a domain name",
    }),
    fallback: fixed("nip.io"),
    meaning:
      "Wildcard DNS service below which a name that holds an address resolves to it; the default domain is made with it.",
  },
  PORTAL_VALUES: {
    type: text({ allowed: "the path of a YAML file" }),
    fallback: fixed(undefined),
    meaning: "File with chart values for the portal, merged over the ones that the deployment finds by itself.",
  },
  DATA_ACCESS_EXTERNAL_ITEMS: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Let clients of data access name STAC items of other catalogues by their address (`/stac/…?url=`). Their documents and files are fetched from public addresses, without credentials.",
  },
  BASE_MAPS: {
    type: baseMaps,
    fallback: fixed(undefined),
    meaning:
      "Base maps of other hosts that people may choose on the maps of the portal and of data access. `configMap.base_maps` in PORTAL_VALUES takes its place.",
  },
} satisfies VariableGroup;
