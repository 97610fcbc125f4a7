import { ACCOUNT_FOLDER } from "@swath/kubernetes/account";
import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";

/** Settings of the API (`main.ts`). */
export const apiSettings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  PUBLIC_URL: { kind: "url", description: "Public base URL of the workspace API." },
  REGISTRATION_URL: {
    kind: "string",
    optional: true,
    description: "Internal port of the registration API, which carries out what is registered in workspaces.",
  },
  REGISTRATION_SECRET: { kind: "string", optional: true, secret: true, description: "What that port asks for." },
  PREFIX_FOR_NAME: { kind: "string", default: "ws", description: "What names of workspaces start with." },
  AUTHENTICATION: {
    kind: "string",
    oneOf: ["required", "optional"],
    default: "required",
    description: "optional: requests without a token act for the administrator (no identity service, or unprotected).",
  },
  OPEN_HOST: {
    kind: "string",
    optional: true,
    description: "Host name on which requests without a token act for the administrator.",
  },
  ...tokenSettings,
  IDENTITY_REALM: { kind: "string", default: "master", description: "Realm of users." },
  WORKSPACE_CREATION: {
    kind: "string",
    oneOf: ["operators", "self-service"],
    default: "operators",
    description: "Who creates workspaces: operators for anybody, or everybody for themselves as well.",
  },
  WORKSPACE_LIMIT_PER_USER: {
    kind: "integer",
    default: 1,
    minimum: 1,
    description: "How many workspaces a user may own who creates them by self-service.",
  },
  INTERNAL_SECRET: {
    kind: "string",
    secret: true,
    description: "What other services of the deployment show on the port `internal`.",
  },
  INTERNAL_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  S3_ENDPOINT: { kind: "url", optional: true, description: "Public base URL of the object storage." },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region that clients of the object storage name." },
});

/** Settings of the reconciler (`reconciler/main.ts`). */
export const reconcilerSettings = defineSettings({
  DATABASE_URL: apiSettings.DATABASE_URL,
  OBJSTORE_ADMIN_URL: {
    kind: "string",
    optional: true,
    description: "Administration API of the object storage; an existing one has none.",
  },
  OBJSTORE_URL: {
    kind: "string",
    optional: true,
    description: "S3 of the object storage, inside the deployment or existing.",
  },
  OBJSTORE_IAM_URL: {
    kind: "url",
    optional: true,
    description: "IAM API of an existing object storage; without it workspaces there have no keys and no quota.",
  },
  BUCKET_OPERATOR_URL: {
    kind: "string",
    optional: true,
    description: "The bucket operator, which makes the buckets of workspaces where there is one.",
  },
  BUCKET_OPERATOR_SECRET: { kind: "string", optional: true, secret: true, description: "What it asks for." },
  BUCKETS_IN_CLOUD: {
    kind: "boolean",
    default: false,
    description: "The operator makes buckets in an infrastructure cloud, with keys of their own.",
  },
  USAGE_INTERVAL: {
    kind: "duration",
    default: "1h",
    minimum: 1,
    description: "How often the use of buckets in an existing object storage is counted.",
  },
  OBJSTORE_ROOT_USER: {
    kind: "string",
    optional: true,
    description: "Root user of the object storage, or a key of the existing one.",
  },
  OBJSTORE_ROOT_PASSWORD: { kind: "string", optional: true, secret: true, description: "Its password or secret." },
  S3_REGION: apiSettings.S3_REGION,
  IDENTITY_INTERNAL_URL: { ...apiSettings.IDENTITY_INTERNAL_URL, description: "Without it nothing is protected." },
  IDENTITY_REALM: apiSettings.IDENTITY_REALM,
  IDENTITY_ADMIN_USER: {
    kind: "string",
    default: "admin",
    description: "User who may use every workspace.",
  },
  IDENTITY_CLIENT: {
    kind: "string",
    default: "workspace-reconciler",
    description: "Client whose service account sets up what workspaces need there.",
  },
  IDENTITY_CLIENT_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Its secret; needed where IDENTITY_INTERNAL_URL is given.",
  },
  IDENTITY_CLIENT_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While the secret is changed: the other one, tried where the first is refused.",
  },
  PROTECTION_CLIENT: {
    kind: "string",
    default: "workspace-api",
    description: "Identity client that owns the protected paths of the workspace API.",
  },
  REGISTRY_ADMIN_URL: {
    kind: "string",
    optional: true,
    description: "REST API of the image registry; without it workspaces have no images of their own.",
  },
  REGISTRY_ADMIN_PASSWORD: { kind: "string", optional: true, secret: true, description: "Password of its user admin." },
  REGISTRY_HOST: { kind: "string", optional: true, description: "Its public host, as image references begin." },
  DEFAULT_QUOTA_MB: {
    kind: "integer",
    default: 20_480,
    minimum: 1,
    description: "Quota of a workspace's storage in MiB, where none was set for it.",
  },
  WORKSPACE_NAMESPACES: {
    kind: "boolean",
    default: false,
    description: "Give each workspace a namespace of the Kubernetes cluster that the reconciler runs in.",
  },
  DEPLOYMENT: {
    kind: "string",
    default: "swath",
    description: "Name of the deployment; a label of the namespaces.",
  },
  NAMESPACE_CPU: { kind: "string", default: "4", description: "Processor cores of all pods of a workspace." },
  NAMESPACE_MEMORY: { kind: "string", default: "8Gi", description: "Memory of all pods of a workspace." },
  NAMESPACE_PODS: { kind: "integer", default: 20, minimum: 0, description: "Pods of a workspace." },
  NAMESPACE_STORAGE: { kind: "string", default: "20Gi", description: "Volumes of a workspace." },
  S3_ENDPOINT: apiSettings.S3_ENDPOINT,
  KUBERNETES_API: { kind: "url", default: "https://kubernetes.default.svc", description: "The cluster's API server." },
  KUBERNETES_ACCOUNT: {
    kind: "string",
    default: ACCOUNT_FOLDER,
    description: "Folder of the service account: token, ca.crt, namespace.",
  },
  RECONCILE_INTERVAL: {
    kind: "duration",
    default: "60s",
    minimum: 1,
    description: "How often each workspace is compared with what it should be.",
  },
  CONCURRENCY: { kind: "integer", default: 8, minimum: 1, maximum: 100, description: "Workspaces worked on at once." },
});

/** Settings of the program that gives other services their rights in namespaces (`namespace-binder/main.ts`). */
export const binderSettings = defineSettings({
  DEPLOYMENT: reconcilerSettings.DEPLOYMENT,
  WORKSPACE_ROLES: {
    kind: "string",
    description: "Roles in namespaces of workspaces, as JSON: a list of {role, account, accountNamespace}.",
  },
  KUBERNETES_API: reconcilerSettings.KUBERNETES_API,
  KUBERNETES_ACCOUNT: reconcilerSettings.KUBERNETES_ACCOUNT,
});
