import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";

import { podSettings } from "./execution/kubernetes/settings.ts";

/** Settings of the service; its runners inherit them. */
export const settings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  DATA_DIR: { kind: "string", description: "Folder of jobs at work." },
  PUBLIC_URL: { kind: "url", description: "Public base URL of the processing service." },
  AUTHENTICATION: {
    kind: "string",
    oneOf: ["required", "optional"],
    default: "required",
    description: "optional: requests without a token may use every user's space.",
  },
  OPEN_HOST: { kind: "string", optional: true, description: "Host name on which no token is needed." },
  ...tokenSettings,
  MAX_CORES: { kind: "integer", default: 4, minimum: 1, description: "Most cores of one job." },
  MAX_RAM_MIB: { kind: "integer", default: 8192, minimum: 64, description: "Most memory of one job." },
  CAPACITY_CORES: {
    kind: "string",
    default: "max",
    description: "Cores that jobs may have together: a number, or max for what this machine has.",
  },
  CAPACITY_RAM_MIB: {
    kind: "integer",
    optional: true,
    minimum: 64,
    description: "Memory that jobs may have together; what this machine has when left out.",
  },
  PARALLEL_JOBS: {
    kind: "integer",
    optional: true,
    minimum: 1,
    maximum: 64,
    description: "Jobs at work at the same time; one a core, between 2 and 8, when left out.",
  },
  STORAGE_SILENCE_SECONDS: {
    kind: "integer",
    default: 20,
    minimum: 1,
    description: "Seconds after which an object storage that does not answer is asked again.",
  },
  RUNNER_SILENCE_SECONDS: {
    kind: "integer",
    default: 60,
    minimum: 5,
    description: "Seconds after which a runner that is not heard of is ended; its job is taken again.",
  },
  USER_RUNNING_JOBS: {
    kind: "integer",
    optional: true,
    minimum: 1,
    description: "Jobs of one user that are at work at the same time, at most; no limit when left out.",
  },
  USER_QUEUED_JOBS: {
    kind: "integer",
    optional: true,
    minimum: 1,
    description: "Jobs of one user that wait or are at work, at most; no limit when left out.",
  },
  CONTAINER_ENGINE: {
    kind: "string",
    default: "auto",
    description:
      "What runs containers: podman, docker, none, the path of one, or auto for the first that is installed.",
  },
  CONTAINER_AUTH_FILE: {
    kind: "string",
    optional: true,
    description: "File with credentials of image registries (containers-auth.json).",
  },
  REGISTRY_URL: { kind: "string", optional: true, description: "The platform's image registry inside the deployment." },
  REGISTRY_HOST: {
    kind: "string",
    optional: true,
    description: "Its public host, as references of images begin: registry.<domain>.",
  },
  REGISTRY_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Bearer token for pulls in the names of users.",
  },
  HOST_TOOLS: {
    kind: "string",
    oneOf: ["auto", "isolated", "open", "refused"],
    default: "auto",
    description:
      "Tools without a container: isolated (by bubblewrap or util-linux), open (with this service's rights), refused, or auto: isolated where that works, else refused.",
  },
  SANDBOX: {
    kind: "string",
    oneOf: ["auto", "bubblewrap", "util-linux"],
    default: "auto",
    description: "What isolates tools: bubblewrap, util-linux, or auto: bubblewrap where it works, else util-linux.",
  },
  BUBBLEWRAP: { kind: "string", default: "bwrap", description: "The program bubblewrap: its name, or its path." },
  TOOL_NETWORK: {
    kind: "string",
    default: "none",
    description:
      "Whose tools may use the network when they ask for it: none, all, or a list of users and USER/PROCESS, separated by commas.",
  },
  MAX_DISK_MIB: {
    kind: "integer",
    default: 20_480,
    minimum: 1,
    description: "Most disk of one job while it is at work.",
  },
  MAX_PROCESSES: { kind: "integer", default: 512, minimum: 1, description: "Most processes of one tool." },
  MAX_OPEN_FILES: {
    kind: "integer",
    default: 4096,
    minimum: 16,
    description: "Most open files of one process of a tool.",
  },
  MAX_TOOL_SECONDS: {
    kind: "integer",
    default: 86_400,
    minimum: 1,
    description: "Most seconds that one tool may run.",
  },
  TOOL_PATH: { kind: "string", optional: true, description: "PATH of tools that run without a container." },
  ALLOW_PRIVATE: {
    kind: "string",
    default: "",
    description:
      "Private addresses that packages and inputs may come from, separated by commas: 10.0.0.0/8, a host name.",
  },
  STAGEOUT_TARGET: {
    kind: "string",
    oneOf: ["workspace", "objstore"],
    default: "objstore",
    description:
      "Where results go: the user's workspace, without which jobs fail; or that of users who have one and STAGEOUT_BUCKET for the others.",
  },
  STAGEOUT_BUCKET: { kind: "string", default: "results", description: "Bucket of results; made when it is missing." },
  S3_ENDPOINT: {
    kind: "string",
    optional: true,
    description: "The object storage: an address inside the deployment, or public.",
  },
  OBJSTORE_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public address of the object storage, by which inputs may name objects (signed addresses).",
  },
  CATALOGUE_PUBLIC_URL: { kind: "url", optional: true, description: "Public address of the platform's catalogue." },
  CATALOGUE_URL: { kind: "string", optional: true, description: "The catalogue inside the deployment." },
  CATALOGUE_DELEGATE_URL: {
    kind: "string",
    optional: true,
    description: "Port `internal` of the catalogue, on which it is read for the owner of a job.",
  },
  CATALOGUE_DELEGATE_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Bearer token for that port.",
  },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Its region." },
  S3_ACCESS_KEY: {
    kind: "string",
    optional: true,
    description:
      "Access key for STAGEOUT_BUCKET; made of S3_SECRET_KEY when left out, as the task `ades-buckets` makes it.",
  },
  S3_SECRET_KEY: { kind: "string", optional: true, secret: true, description: "Its secret." },
  WORKSPACE_URL: { kind: "string", optional: true, description: "Port `internal` of the workspace API." },
  WORKSPACE_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Bearer token for the workspace API.",
  },
  REGISTER_RESULTS: {
    kind: "string",
    oneOf: ["true", "false"],
    default: "true",
    description: "Whether catalogues of results are registered in the user's workspace, where there are workspaces.",
  },
  PLATFORM_DOMAIN: {
    kind: "string",
    optional: true,
    description: "Pages of this domain and of hosts below it may read answers with the login in their cookies.",
  },
  EARLIER_LINE: {
    kind: "string",
    oneOf: ["true", "false"],
    default: "false",
    description:
      "Whether the service answers as the earlier release line did: ids of processes that are deployed on wps3 have the version (`ndvi-1_0_0`), and /{user}/zoo has WPS capabilities.",
  },
  JOB_RETENTION_DAYS: {
    kind: "integer",
    default: 0,
    minimum: 0,
    maximum: 36_500,
    description: "Days after which a job that has ended is forgotten; 0: never.",
  },
  RESULT_RETENTION: {
    kind: "string",
    oneOf: ["keep", "with-job"],
    default: "keep",
    description: "Whether results in the object storage are removed with their job.",
  },
  ...podSettings,
});
