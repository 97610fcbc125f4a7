import { defineSettings } from "@swath/service";
import { BASE_MAP_FORM } from "@swath/service/base-maps";
import { offeringSettings } from "@swath/service/offering";

export const settings = defineSettings({
  TITLE: { kind: "string", default: "Data access", description: "Title in capabilities and pages." },
  LAYERS_FOLDER: {
    kind: "string",
    optional: true,
    description: "Folder of STAC items that are the layers, for a service without a catalogue; everybody sees them.",
  },
  CATALOGUE_URL: {
    kind: "string",
    optional: true,
    description: "The resource catalogue inside the deployment; its collections are the layers.",
  },
  CATALOGUE_FEED_KEY: {
    kind: "string",
    optional: true,
    secret: true,
    description:
      "What the catalogue has as its FEED_KEY: its changes are followed. Without it, it is asked each second.",
  },
  CATALOGUE_PUBLIC_URL: { kind: "url", optional: true, description: "Public base URL of the catalogue." },
  OBJSTORE_URL: { kind: "string", optional: true, description: "The object storage that items refer to." },
  OBJSTORE_PUBLIC_URL: { kind: "url", optional: true, description: "Its public base URL." },
  OBJSTORE_ROOT_USER: { kind: "string", default: "", description: "Access key that reads all buckets." },
  OBJSTORE_ROOT_PASSWORD: { kind: "string", default: "", secret: true, description: "Its secret." },
  // Every record may name what its buckets hold.
  ...offeringSettings,
  S3_REGION: { kind: "string", default: "us-east-1", description: "Region of the object storage." },
  READABLE_BUCKETS: {
    kind: "string",
    default: "",
    description:
      "Buckets of the object storage, separated by commas, whose objects records may name as assets; whoever sees a record sees them.",
  },
  ALLOWED_HOSTS: {
    kind: "string",
    default: "",
    description: "Hosts (with their port), separated by commas, that are read even where their addresses are private.",
  },
  ALLOW_PUBLIC_URLS: {
    kind: "boolean",
    default: true,
    description: "Clients may name files of any public address in /cog; false: of the allowed hosts only.",
  },
  EXTERNAL_ITEMS: {
    kind: "boolean",
    default: false,
    description:
      "Clients may name STAC items of other catalogues at /stac: their documents are fetched, and their assets read, where /cog may read.",
  },
  THREADS: {
    kind: "integer",
    default: 0,
    minimum: 0,
    maximum: 64,
    description: "Threads that read and render; 0: one a processor.",
  },
  CACHE_BYTES: {
    kind: "integer",
    default: 167_772_160,
    minimum: 1_048_576,
    description: "Memory for decoded blocks, of all threads together.",
  },
  TILE_CACHE_BYTES: {
    kind: "integer",
    default: 67_108_864,
    minimum: 0,
    description: "Memory for pictures that were rendered before.",
  },
  TILE_CACHE_BUCKET: {
    kind: "string",
    optional: true,
    description:
      "Bucket of the object storage that rendered pictures are kept in for all replicas, 30 days each; it is made when it is missing. Without it they are kept in memory alone.",
  },
  BASE_MAPS: {
    kind: "string",
    default: "",
    description: `Base maps of other hosts that people may choose in the viewer: ${BASE_MAP_FORM}.`,
  },
  REQUEST_TIMEOUT: {
    kind: "duration",
    default: 30,
    minimum: 1,
    maximum: 600,
    description: "How long a picture may take.",
  },
});
