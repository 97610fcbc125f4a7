import { tokenSettings } from "@swath/auth/settings";
import { defineSettings } from "@swath/service";
import { offeringSettings } from "@swath/service/offering";

const shared = defineSettings({
  DATABASE_URL: { kind: "string", secret: true, description: "Connection string of PostgreSQL." },
});

/** Settings of the API (`main.ts`). */
export const apiSettings = defineSettings({
  ...shared,
  PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of the registration API, where it has a host.",
  },
  CATALOGUE_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of the resource catalogue, for links to what was registered.",
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
  INTERNAL_SECRET: {
    kind: "string",
    secret: true,
    description: "Opens the internal port (LISTEN_INTERNAL) to services that send it as a bearer token.",
  },
  INTERNAL_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "While that one is changed: the other value, which is accepted as well.",
  },
});

/** Settings of the workers (`worker/main.ts`). */
export const workerSettings = defineSettings({
  ...shared,
  CATALOGUE_URL: { kind: "string", description: "Internal port of the resource catalogue." },
  CATALOGUE_PUBLIC_URL: { kind: "url", description: "Public base URL of the resource catalogue." },
  CATALOGUE_API_URL: {
    kind: "string",
    optional: true,
    description: "The resource catalogue inside the deployment, for its public addresses.",
  },
  CATALOGUE_OPEN_HOST: { kind: "string", optional: true, description: "Host name on which it is open." },
  CATALOGUE_SECRET: { kind: "string", secret: true, description: "What its internal port asks for." },
  DATA_ACCESS_PUBLIC_URL: {
    kind: "url",
    optional: true,
    description: "Public base URL of data access, for links to previews.",
  },
  PORTAL_PUBLIC_URL: { kind: "url", optional: true, description: "Public base URL of the portal, for links to it." },
  OBJSTORE_URL: { kind: "string", optional: true, description: "The object storage inside the deployment." },
  OBJSTORE_PUBLIC_URL: { kind: "url", optional: true, description: "Its public base URL." },
  OBJSTORE_ROOT_USER: { kind: "string", default: "", description: "Access key that reads all buckets." },
  OBJSTORE_ROOT_PASSWORD: { kind: "string", default: "", secret: true, description: "Its secret." },
  OBJSTORE_EVENT_TARGET: {
    kind: "string",
    optional: true,
    description: "What its buckets call the webhook of the registration API (POST /events of the internal port).",
  },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region of the object storage." },
  // Everybody of the deployment may register what its buckets hold.
  ...offeringSettings,
  CLOUDDATA: { kind: "boolean", default: false, description: "Whether a provider's data offering is harvested." },
  CLOUDDATA_CATALOGUE_URL: { kind: "url", optional: true, description: "The provider's catalogue." },
  CLOUDDATA_CATALOGUE_TYPE: {
    kind: "string",
    oneOf: ["OpenSearch", "STACAPI"],
    default: "OpenSearch",
    description: "What it speaks: OpenSearch with a description for each collection, or STAC API.",
  },
  CLOUDDATA_AREA: { kind: "string", default: "", description: "Area that is harvested: west,south,east,north." },
  CLOUDDATA_TIME: { kind: "string", default: "", description: "Time that is harvested: begin/end." },
  CLOUDDATA_SCHEDULE: { kind: "string", default: "12h", description: "When: a cron expression, or an interval." },
  ADES_URL: {
    kind: "string",
    optional: true,
    description: "The processing service inside the deployment, for its public addresses.",
  },
  ADES_PUBLIC_URL: { kind: "url", optional: true, description: "Its public base URL." },
  ADES_OPEN_HOST: { kind: "string", optional: true, description: "Host name on which it is open." },
  ALLOW_PRIVATE: {
    kind: "string",
    default: "",
    description: "Host names, addresses and networks, separated by commas, that are read although they are private.",
  },
  CONCURRENCY: { kind: "integer", default: 4, minimum: 1, maximum: 64, description: "Tasks at once." },
  RASTER_THREADS: { kind: "integer", default: 1, minimum: 1, maximum: 32, description: "Threads that read rasters." },
  TASK_RETENTION_DAYS: { kind: "integer", default: 30, minimum: 1, description: "How long finished tasks are kept." },
});
