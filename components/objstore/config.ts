import { type Settings, defineSettings } from "@swath/service";

export const settings = defineSettings({
  DATA_DIR: { kind: "string", description: "Directory of the volume that holds index and content" },
  PUBLIC_URL: {
    kind: "url",
    description: "Public base URL, https://objstore.<domain>; buckets are also its sub-domains",
  },
  CONSOLE_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of the console, whose pages may call S3 from the browser",
  },
  OBJSTORE_ROOT_USER: { kind: "string", description: "Access key of the root user" },
  OBJSTORE_ROOT_PASSWORD: { kind: "string", secret: true, description: "Secret key of the root user" },
  OBJSTORE_ROOT_PASSWORD_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While the root user's secret key is changed: the other one, which is accepted as well",
  },
  OBJSTORE_REGION: { kind: "string", default: "us-east-1", description: "Region that signatures must name" },
  OBJSTORE_RESERVED_MIB: {
    kind: "integer",
    default: 512,
    minimum: 0,
    description: "MiB of the disk that stay free: writes are refused before they would be used",
  },
  OBJSTORE_DEFAULT_OWNERSHIP: {
    kind: "string",
    default: "BucketOwnerEnforced",
    oneOf: ["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"],
    description:
      "Ownership of objects in buckets that are made without saying: BucketOwnerEnforced means that access control lists do not count",
  },
  OBJSTORE_SIGNATURE_V2: {
    kind: "boolean",
    default: false,
    description: "Accepts Signature Version 2 in headers too, which protects less, for clients that know nothing newer",
  },
  OBJSTORE_ENCRYPTION_KEYS: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "Keys of the deployment for encryption at rest, <secret> or <name>:<secret> separated by commas: the first encrypts, the others decrypt what they encrypted before; none: no SSE-S3",
  },
  OBJSTORE_SNAPSHOTS: {
    kind: "string",
    optional: true,
    description:
      "Schedule of snapshots: how many of each period are kept, such as hourly=24,daily=7,weekly=4,monthly=12; none: only by hand",
  },
  OBJSTORE_EVENT_TARGETS: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "Webhooks that buckets may tell of changes, <name>=<URL> separated by commas; a login in the URL is sent as HTTP Basic",
  },
  REGISTRATION_EVENTS_URL: {
    kind: "string",
    optional: true,
    description: "The registration service of the deployment, which buckets may tell of changes as swath-registration",
  },
  REGISTRATION_EVENTS_SECRET: {
    kind: "string",
    optional: true,
    secret: true,
    description: "What the registration service asks for",
  },
  AUDIT_DATABASE_URL: {
    kind: "string",
    optional: true,
    secret: true,
    description: "Database of the deployment with its audit trail; nothing else is kept there",
  },
  OBJSTORE_REBUILD: {
    kind: "boolean",
    default: false,
    description: "Makes a new index at the start when the index is lost or damaged, as swath objstore rebuild does",
  },
  IDENTITY_ISSUER: {
    kind: "url",
    optional: true,
    description: "Issuer whose tokens AssumeRoleWithWebIdentity accepts; none: not offered",
  },
  ACCEPT_ID_TOKENS: {
    kind: "boolean",
    default: false,
    description:
      "Take ID tokens of the issuer as well, as Bearer or in X-User-Id: the login service's clients send them.",
  },
  IDENTITY_INTERNAL_URL: {
    kind: "string",
    optional: true,
    description: "Where the identity service is reached inside the deployment",
  },
  CONSOLE_CLIENT_ID: {
    kind: "string",
    default: "objstore-console",
    description: "Public client of the identity service that people log in to the console with",
  },
  ACCEPTED_AUDIENCES: {
    kind: "string",
    default: "objstore,objstore-console,swath-platform",
    description: "Audiences of which an access token must have one, separated by commas",
  },
});

export type ObjstoreSettings = Settings<typeof settings>;
