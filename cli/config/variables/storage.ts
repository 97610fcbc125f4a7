import type { Variant } from "@swath/manifest";
import { fixed, sameAs, type VariableGroup } from "../define.ts";
import { choice, secret, secretUrl, size, text, url } from "../value-types.ts";
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
  OBJSTORE_REGION: {
    type: text({ pattern: /^[A-Za-z0-9][\w-]{0,62}$/, allowed: "a region: letters, digits, _ and -" }),
    fallback: fixed("us-east-1"),
    meaning: "Region of the object storage, as signatures name it.",
  },
  REGISTRY_ADMIN_PASSWORD: {
    type: secret(),
    fallback: defaultSecret("REGISTRY_ADMIN_PASSWORD"),
    meaning: "Password of the image registry's user admin.",
    aliases: ["HARBOR_ADMIN_PASSWORD"],
  },
  DATABASE_URL: {
    type: secretUrl(["postgresql", "postgres"]),
    fallback: fixed(undefined),
    meaning: "Existing PostgreSQL used instead of the deployed one.",
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
  APPLICATION_HUB_STORAGE: ofDefaultStorage("application hub"),
  DATA_ACCESS_STORAGE: ofDefaultStorage("data access service"),
  REGISTRY_STORAGE: { ...ofDefaultStorage("image registry"), aliases: ["HARBOR_STORAGE"] },
  RESOURCE_CATALOGUE_STORAGE: ofDefaultStorage("resource catalogue"),
  PDE_STORAGE: { ...ofDefaultStorage("processor development environment"), variants: ["B"] },
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
