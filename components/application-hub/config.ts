import { ACCOUNT_FOLDER } from "@swath/kubernetes/account";
import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";

const DATABASE = { kind: "string", secret: true, description: "Connection string of PostgreSQL." } as const;
const PUBLIC = { kind: "url", description: "Public base URL of the hub; servers are below its host." } as const;
const DATA = { kind: "string", description: "Folder of the users' homes." } as const;
const AUTHORITY = {
  kind: "string",
  optional: true,
  description: "File with the certificate of the platform's own authority; servers trust it beside the system's.",
} as const;
const SECRET = {
  kind: "string",
  secret: true,
  description: "Key that logins are sealed with; shared with the proxy.",
} as const;

/** Settings of the hub (`main.ts`). */
export const hubSettings = defineSettings({
  DATABASE_URL: DATABASE,
  PUBLIC_URL: PUBLIC,
  DATA_DIR: DATA,
  HUB_SECRET: SECRET,
  ...tokenSettings,
  IDENTITY_ISSUER: { kind: "url", optional: true, description: "Who logs people in. Nobody can log in without." },
  CLIENT_ID: { kind: "string", default: "application-hub", description: "Public client of the identity service." },
  PROFILES_FILE: {
    kind: "string",
    optional: true,
    description: "Profiles in the known config.yml form, instead of those that the hub brings.",
  },
  PLATFORM_SERVICES: {
    kind: "string",
    default: "{}",
    description: "Public addresses of services by their ids, as JSON.",
  },
  S3_URL: { kind: "string", optional: true, description: "Peer address of the object storage." },
  S3_PUBLIC_URL: { kind: "url", optional: true, description: "Public address of the object storage." },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region that signatures name." },
  PLATFORM_CA_FILE: AUTHORITY,
  WORKSPACE_PREFIX: { kind: "string", default: "ws", description: "What names of workspaces start with." },
  WORKSPACE_URL: { kind: "string", optional: true, description: "Peer address of the workspace API." },
  WORKSPACE_HOST: { kind: "string", optional: true, description: "Public host of the workspace API." },
  USER_SERVERS: { kind: "integer", default: 5, minimum: 1, description: "Servers a user may have at a time." },
  USER_CORES: { kind: "integer", default: 8, minimum: 1, description: "Cores of all servers of a user." },
  USER_MEMORY_MIB: {
    kind: "integer",
    default: 16_384,
    minimum: 64,
    description: "MiB of memory of all servers of a user.",
  },
  IDLE_TIMEOUT: {
    kind: "duration",
    default: "1h",
    minimum: 0,
    description: "Servers without activity for this long are stopped; 0 never.",
  },
  MAX_AGE: { kind: "duration", default: "0", minimum: 0, description: "Servers older than this are stopped; 0 never." },
  START_TIMEOUT: { kind: "duration", default: "10m", minimum: 1, description: "How long a server may take to answer." },
  CONTAINER_ENGINE: { kind: "string", default: "auto", description: "auto, none, podman, docker, or the path of one." },
  LISTEN_STORAGE: {
    kind: "string",
    optional: true,
    description: "Where pods of servers reach the object storage through the hub.",
  },
  SPAWNER: {
    kind: "string",
    oneOf: ["local", "pods"],
    default: "local",
    description: "Where servers run: on this machine, or as pods of the cluster that the hub runs in.",
  },
  DEPLOYMENT: { kind: "string", default: "swath", description: "Name of the deployment; a label of what pods need." },
  POD_IMAGE: {
    kind: "string",
    default: "",
    description:
      "The hub's own image: beside each server, its program leads to the hub and keeps the workspace's files.",
  },
  POD_PULL_SECRETS: {
    kind: "string",
    default: "",
    description: "Secrets of workspaces' namespaces that images are pulled with, separated by commas.",
  },
  HOME_STORAGE_CLASS: {
    kind: "string",
    optional: true,
    description: "Storage class of users' homes, and of volumes of profiles that name none.",
  },
  HOME_STORAGE_SIZE: { kind: "string", default: "5Gi", description: "Size of a user's home on a cluster." },
  KUBERNETES_API: { kind: "url", default: "https://kubernetes.default.svc", description: "The cluster's API server." },
  KUBERNETES_ACCOUNT: {
    kind: "string",
    default: ACCOUNT_FOLDER,
    description: "Folder of the service account: token, ca.crt, namespace.",
  },
  SERVICE_TOKENS: {
    kind: "string",
    default: "{}",
    secret: true,
    description: 'Tokens of services by their names, as JSON: {"name": {"token", "scopes": []}}.',
  },
});

/** Settings of the proxy (`proxy/main.ts`). */
export const proxySettings = defineSettings({
  DATABASE_URL: DATABASE,
  PUBLIC_URL: PUBLIC,
  DATA_DIR: DATA,
  HUB_SECRET: SECRET,
  HUB_URL: { kind: "string", description: "Peer address of the hub." },
  PLATFORM_DOMAIN: { kind: "string", description: "Stem of the platform's hosts, which servers may reach." },
  INGRESS_URL: {
    kind: "string",
    optional: true,
    description: "Where the platform's hosts are reached; by their names where left out.",
  },
  PLATFORM_SERVICES: {
    kind: "string",
    default: "{}",
    description: "Public addresses of services by their ids, as JSON.",
  },
  PLATFORM_CA_FILE: AUTHORITY,
  PLATFORM_COOKIES: {
    kind: "string",
    default: "auth_user_id,auth_refresh_token",
    description: "Cookies of the whole domain, which servers must not see, separated by commas.",
  },
});
