import { ACCOUNT_FOLDER } from "@swath/kubernetes/account";
import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  API_SECRET: { kind: "string", secret: true, description: "What callers show as a bearer token." },
  API_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  CLOUD_IDENTITY_URL: {
    kind: "url",
    optional: true,
    description: "Keystone v3 of the cloud that buckets are made in; without it they are made in OBJSTORE_ADMIN_URL.",
  },
  CLOUD_S3_URL: { kind: "url", optional: true, description: "S3 of the cloud, for bucket policies." },
  CLOUD_DOMAINNAME: { kind: "string", optional: true, description: "Domain of the administrator and of what is made." },
  CLOUD_USERNAME: { kind: "string", optional: true, description: "The cloud's administrator." },
  CLOUD_PASSWORD: { kind: "string", optional: true, secret: true, description: "The administrator's password." },
  CLOUD_MEMBERROLEID: { kind: "string", optional: true, description: "ID of the role given in each project." },
  CLOUD_SERVICEPROJECTID: {
    kind: "string",
    optional: true,
    description: "ID of the project whose identities may write into every bucket.",
  },
  USER_EMAIL_PATTERN: {
    kind: "string",
    default: "swath+<name>@platform.com",
    description: "E-mail address of each cloud user; <name> becomes the bucket's name.",
  },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region that clients of S3 name." },
  OBJSTORE_ADMIN_URL: {
    kind: "string",
    optional: true,
    description: "Administration API of the platform's object storage.",
  },
  OBJSTORE_URL: { kind: "string", optional: true, description: "S3 of the platform's object storage." },
  OBJSTORE_ROOT_USER: { kind: "string", optional: true, description: "Its root user." },
  OBJSTORE_ROOT_PASSWORD: { kind: "string", optional: true, secret: true, description: "The root user's password." },
  WATCH_RESOURCES: {
    kind: "boolean",
    default: false,
    description: "Follow the Bucket resources of the Kubernetes cluster that the operator runs in.",
  },
  RESOURCE_GROUP: { kind: "string", default: "swath.io", description: "API group of the Bucket resources." },
  SECRETS_ROLE: {
    kind: "string",
    optional: true,
    description: "ClusterRole by which the operator may write Secrets in a namespace, for the advice that it gives.",
  },
  KUBERNETES_API: { kind: "url", default: "https://kubernetes.default.svc", description: "The cluster's API server." },
  KUBERNETES_ACCOUNT: {
    kind: "string",
    default: ACCOUNT_FOLDER,
    description: "Folder of the service account: token, ca.crt, namespace.",
  },
  RECONCILE_INTERVAL: {
    kind: "duration",
    default: "10m",
    minimum: 1,
    description: "How often each bucket is compared with what it should be.",
  },
  CONCURRENCY: { kind: "integer", default: 4, minimum: 1, maximum: 50, description: "Buckets worked on at once." },
});
