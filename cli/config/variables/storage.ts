import type { PlatformSecret, Variant } from "@swath/manifest";
import { derived, fixed, sameAs, type VariableGroup } from "../define.ts";
import { boolean, choice, secret, secretUrl, size, text, url } from "../value-types.ts";
import { defaultSecret } from "./default-secret.ts";

const storageClass = text({
  pattern: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  allowed: "the name of a storage class: letters a-z, digits, - and .",
});

/** Where data is kept: object storage, database, image registry, storage classes of volumes. */
export const storageVariables = {
  OBJSTORE_ROOT_USER: {
    type: text({ pattern: /^[\w.@+-]{3,128}$/, allowed: "3 or more letters, digits and . _ @ + -" }),
    fallback: fixed("swath"),
    meaning: "Root user of the object storage, also its access key id.",
    aliases: ["MINIO_ROOT_USER"],
  },
  OBJSTORE_ROOT_PASSWORD: {
    type: secret(8),
    fallback: defaultSecret("OBJSTORE_ROOT_PASSWORD"),
    meaning: "Password of the root user, also its secret access key.",
    aliases: ["MINIO_ROOT_PASSWORD"],
  },
  OBJSTORE_ENDPOINT: {
    type: url(["https", "http"]),
    fallback: fixed(undefined),
    meaning:
      "Existing S3 endpoint used instead of the deployed object storage. OBJSTORE_ROOT_USER and OBJSTORE_ROOT_PASSWORD are its keys.",
  },
  OBJSTORE_IAM_ENDPOINT: {
    type: url(["https", "http"]),
    fallback: fixed(undefined),
    meaning:
      "IAM API of the existing object storage of OBJSTORE_ENDPOINT, often the same address (Ceph) or https://iam.amazonaws.com. With it workspaces get keys and quotas there: OBJSTORE_ROOT_USER must be a key that may manage users.",
  },
  OBJSTORE_REGION: {
    type: text({ pattern: /^[A-Za-z0-9][\w-]{0,62}$/, allowed: "a region: letters, digits, _ and -" }),
    fallback: fixed("us-east-1"),
    meaning: "Region of the object storage, as signatures name it.",
  },
  OBJSTORE_ENCRYPTION_KEYS: {
    type: secret(16),
    fallback: derived("generated once, kept, and shown by `swath credentials`", (): PlatformSecret => ({
      kind: "generated",
      name: "OBJSTORE_ENCRYPTION_KEYS",
      bytes: 32,
    })),
    meaning:
      "Keys of the deployed object storage for encryption at rest (SSE-S3), separated by commas, each with or without a name (`name:secret`). The first encrypts; to rotate, put a new one in front and keep the old ones.",
  },
  OBJSTORE_DEFAULT_OWNERSHIP: {
    type: choice(["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"]),
    fallback: fixed("BucketOwnerEnforced" as const),
    meaning:
      "Object ownership of buckets that are made without saying. With BucketOwnerEnforced access control lists do not count.",
  },
  OBJSTORE_SNAPSHOTS: {
    type: text({
      pattern:
        /^(?!.*\b(\w+)=.*\b\1=)(hourly|daily|weekly|monthly)=[1-9]\d{0,3}(, *(hourly|daily|weekly|monthly)=[1-9]\d{0,3})*$/,
      allowed: "how many snapshots of each period are kept, such as hourly=24,daily=7,weekly=4,monthly=12",
    }),
    fallback: fixed(undefined),
    meaning:
      "Snapshots of the deployed object storage by a schedule: how many of each period are kept (`hourly=24,daily=7`; also `weekly`, `monthly`). Without it snapshots are made by hand.",
  },
  OBJSTORE_EVENT_TARGETS: {
    type: secret(),
    fallback: fixed(undefined),
    meaning:
      "Webhooks that buckets of the deployed object storage may tell of changes: `name=URL`, separated by commas. A login in the URL is sent as HTTP Basic.",
  },
  OBJSTORE_SIGNATURE_V2: {
    type: boolean,
    fallback: fixed(false),
    meaning: "Accept Signature Version 2 in headers too, which protects less, for S3 clients that know nothing newer.",
  },
  REGISTRY_ADMIN_PASSWORD: {
    type: secret(),
    fallback: defaultSecret("REGISTRY_ADMIN_PASSWORD"),
    meaning: "Password of the image registry's user admin.",
    aliases: ["HARBOR_ADMIN_PASSWORD"],
  },
  REGISTRY_URL: {
    type: url(["https", "http"]),
    fallback: fixed(undefined),
    meaning: "Existing image registry used instead of the deployed one: the address that the portal links to.",
  },
  REGISTRY_CONTENT: {
    type: choice(["objstore", "volume"]),
    fallback: derived("objstore where REQUIRE_OBJSTORE is true or OBJSTORE_ENDPOINT is set, else volume", ({ get }) =>
      get("REQUIRE_OBJSTORE") || get("OBJSTORE_ENDPOINT") !== undefined ? "objstore" : "volume",
    ),
    meaning:
      "Where the image registry keeps content: a bucket of the object storage, which several replicas can share, or a volume of its own. It cannot be changed later.",
  },
  REGISTRY_BUCKET: {
    type: text({ pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, allowed: "the name of a bucket" }),
    fallback: fixed("registry"),
    meaning: "Bucket of the image registry's content; made when missing.",
  },
  REGISTRY_REDIRECT: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Send clients that pull to presigned URLs of the object storage. Clients have to reach it under its public address.",
  },
  DATABASE_URL: {
    type: secretUrl(["postgresql", "postgres"]),
    fallback: fixed(undefined),
    meaning: "Existing PostgreSQL used instead of the deployed one.",
  },
  DATABASE_ROLES: {
    type: choice(["own", "shared"]),
    fallback: fixed("own"),
    meaning:
      "How services log in to DATABASE_URL. own: each by a role that reaches its own schema alone; the role of DATABASE_URL makes them and needs CREATEROLE. shared: all by DATABASE_URL itself, so that what leaks of one opens the data of all.",
  },
  DEFAULT_STORAGE: {
    type: storageClass,
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("standard"),
    meaning: "Storage class of every volume that no other variable names one for. Kubernetes only.",
  },
  POSTGRES_STORAGE: ofDefaultStorage("database"),
  POSTGRES_STORAGE_SIZE: volumeSize("database"),
  POSTGRES_STORAGE_ACCESS: accessOfOnePod("database"),
  POSTGRES_SHARED_BUFFERS: {
    type: size("kubernetes"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("128Mi"),
    meaning:
      "Memory in which PostgreSQL keeps pages of its tables, from 1Mi. A catalogue of a million records answers twice as fast with 2Gi. The pod's limit is 2Gi more.",
  },
  OBJSTORE_STORAGE: { ...ofDefaultStorage("object storage"), aliases: ["MINIO_STORAGE"] },
  OBJSTORE_STORAGE_SIZE: volumeSize("object storage"),
  OBJSTORE_STORAGE_ACCESS: accessOfOnePod("object storage"),
  ADES_STORAGE: ofDefaultStorage("processing service"),
  ADES_STORAGE_SIZE: volumeSize("processing service"),
  ADES_STORAGE_ACCESS: {
    type: choice(["ReadWriteOnce", "ReadWriteMany"]),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("ReadWriteOnce"),
    meaning:
      "Who can mount the processing service's volume. With ReadWriteMany, which ADES_STORAGE has to offer, the steps of jobs run on every node; with ReadWriteOnce on the service's own. Kubernetes only; it cannot be changed later.",
  },
  APPLICATION_HUB_STORAGE: ofOneVariant("application hub", "A"),
  DATA_ACCESS_STORAGE: {
    ...ofDefaultStorage("data access service"),
    meaning:
      "Storage class of the data access service's volumes. It has none: it reads the object storage and keeps nothing.",
  },
  REGISTRY_STORAGE: { ...ofDefaultStorage("image registry"), aliases: ["HARBOR_STORAGE"] },
  RESOURCE_CATALOGUE_STORAGE: {
    ...ofDefaultStorage("resource catalogue"),
    meaning:
      "Storage class of the resource catalogue's volumes. It has none: records are in the database (POSTGRES_STORAGE).",
  },
  PDE_STORAGE: ofOneVariant("processor development environment", "B"),
} satisfies VariableGroup;

function ofDefaultStorage(owner: string) {
  return {
    type: storageClass,
    variants: ["A"] as readonly Variant[],
    worksInBoth: true as const,
    fallback: sameAs("DEFAULT_STORAGE"),
    meaning: `Storage class of the ${owner}'s volumes.`,
  };
}

function ofOneVariant(owner: string, variant: Variant) {
  const { worksInBoth: _both, ...definition } = ofDefaultStorage(owner);
  return { ...definition, variants: [variant] as readonly Variant[] };
}

function volumeSize(owner: string) {
  return {
    type: size("kubernetes"),
    variants: ["A"] as readonly Variant[],
    worksInBoth: true as const,
    fallback: fixed("20Gi"),
    meaning: `Size of the ${owner}'s volume. A volume that is larger already keeps its size; a smaller one grows where its storage class allows expansion. Kubernetes only.`,
  };
}

/** For a volume that only one process may write. */
function accessOfOnePod(owner: string) {
  return {
    type: choice(["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]),
    variants: ["A"] as readonly Variant[],
    worksInBoth: true as const,
    fallback: fixed("ReadWriteOnce" as const),
    meaning: `Access mode of the ${owner}'s volume. One pod uses it at a time, whatever the mode. Kubernetes only; it cannot be changed later.`,
  };
}
