import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  PUBLIC_URL: { kind: "url", description: "Public base URL of the registry: https://registry.<domain>." },
  REGISTRY_ADMIN_PASSWORD: { kind: "string", secret: true, description: "Password of the user admin." },
  REGISTRY_ADMIN_PASSWORD_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While the password is changed: the other one, which is accepted as well.",
  },
  TOKEN_SECRET: {
    kind: "string",
    secret: true,
    description: "Key that the registry signs its tokens with; at least 32 bytes.",
  },
  BLOBS: {
    kind: "string",
    oneOf: ["volume", "s3"],
    default: "volume",
    description: "Where content is kept: files below DATA_DIR, or objects of S3_BUCKET.",
  },
  DATA_DIR: { kind: "string", optional: true, description: "Folder of the content; needed where BLOBS is volume." },
  S3_URL: {
    kind: "string",
    optional: true,
    description: "Peer address of the object storage; needed where BLOBS is s3.",
  },
  S3_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Address of the object storage for clients, in redirects.",
  },
  S3_BUCKET: { kind: "string", default: "registry", description: "Bucket of the content; made when missing." },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region that signatures name." },
  S3_ACCESS_KEY: { kind: "string", optional: true, description: "Access key of the object storage." },
  S3_SECRET_KEY: { kind: "string", optional: true, secret: true, description: "Its secret." },
  BLOB_REDIRECTS: {
    kind: "boolean",
    default: false,
    description: "Send clients to presigned URLs of the object storage for content instead of streaming it.",
  },
  ...tokenSettings,
  CONSOLE_CLIENT_ID: {
    kind: "string",
    default: "registry",
    description: "Public client that people log in to the console with.",
  },
  PROCESSING_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "What the processing service shows to pull in the names of users; it pulls nothing private without.",
  },
  PROCESSING_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  ALLOW_PRIVATE: {
    kind: "string",
    default: "",
    description:
      "Private addresses, networks and hosts that webhooks, caches, replication and scanners may reach, separated by commas.",
  },
  CACHE_FRESHNESS: {
    kind: "duration",
    default: "30s",
    minimum: 1,
    description: "How long a tag of a project that is a cache is believed without asking the other registry.",
  },
  UPLOAD_RETENTION: {
    kind: "duration",
    default: "1d",
    minimum: 60,
    description: "How long an upload that nobody goes on with is kept.",
  },
  PUSH_RETENTION: {
    kind: "duration",
    default: "1h",
    minimum: 1,
    description: "How long content that no manifest refers to yet is kept for the push that brought it.",
  },
  COLLECT_INTERVAL: {
    kind: "duration",
    default: "5s",
    minimum: 1,
    description: "How often unused content is deleted, besides right after it was given up.",
  },
});
