import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
  PUBLIC_URL: { kind: "url", description: "Public base URL of the catalogue." },
  PLATFORM_DOMAIN: {
    kind: "string",
    optional: true,
    description: "Domain of the deployment: resource-catalogue.<workspace>.<domain> is the catalogue of a workspace.",
  },
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
  WORKSPACE_URL: {
    kind: "string",
    optional: true,
    description: "Internal port of the workspace API, which knows the members of workspaces.",
  },
  WORKSPACE_SECRET: { kind: "string", optional: true, secret: true, description: "What that port asks for." },
  INTERNAL_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "Opens the internal port (LISTEN_INTERNAL) to services that send it as a bearer token; they act as operators.",
  },
  INTERNAL_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  DELEGATE_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "Opens the internal port to services that read for a user, whom X-On-Behalf-Of names: what is public, and what is in the user's own workspaces.",
  },
  DELEGATE_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  FEED_KEY: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Key (X-Feed-Key) of services of the deployment that follow the changes of all collections.",
  },
  FEED_KEY_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
  S3_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of the object storage, for signed links to private assets.",
  },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region that signed links name." },
  S3_ACCESS_KEY: { kind: "string", optional: true, description: "Key that signs links to assets." },
  S3_SECRET_KEY: { kind: "string", optional: true, secret: true, description: "Its secret." },
  DATA_ACCESS_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of data access, for links to what scenes look like.",
  },
  MATCHED_CAP: {
    kind: "integer",
    default: 1000,
    minimum: 0,
    description: "Up to how many records a search counts what it matches; past it the number is a lower bound.",
  },
  HARVEST_MATCHED_CAP: {
    kind: "integer",
    default: 100_000,
    minimum: 1,
    description:
      "The same for CSW and OpenSearch, whose clients read as many records as there are said to be; past it the number is an estimate.",
  },
  VALIDATION: {
    kind: "string",
    oneOf: ["strict", "lenient"],
    default: "strict",
    description: "lenient: items and collections that break rules of extensions are stored all the same.",
  },
  CHANGE_RETENTION_DAYS: {
    kind: "integer",
    default: 30,
    minimum: 1,
    description: "How long changes are kept for those who follow them.",
  },
  HARVEST_ALLOW_PRIVATE: {
    kind: "string",
    default: "",
    description:
      "Hosts, addresses and networks (10.1.0.0/16), with commas between them, that records are harvested from although they are private.",
  },
  PARTITION_RECORDS: {
    kind: "integer",
    default: 500_000,
    minimum: 1000,
    description:
      "Records of a partition: a collection with more than half of this gets partitions of its own, by time, made while it is in use.",
  },
  DATABASE_CONNECTIONS: {
    kind: "integer",
    default: 20,
    minimum: 3,
    maximum: 200,
    description:
      "Connections to PostgreSQL at most: half of them for searches, a quarter for loads, the rest for everything else.",
  },
  LOAD_IDLE_SECONDS: {
    kind: "integer",
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: "A load whose client sends nothing for longer is ended, and nothing of it is stored.",
  },
  SEARCH_TIMEOUT_SECONDS: {
    kind: "integer",
    default: 20,
    minimum: 1,
    maximum: 3600,
    description: "Searches that take PostgreSQL longer are ended.",
  },
});
