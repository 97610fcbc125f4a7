import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

import { StorageRefusal } from "../storage/bucket-storage.ts";
import type { Bucket } from "../store/buckets.ts";

export interface BucketSecrets {
  readonly put: (bucket: Bucket) => Promise<void>;
  readonly remove: (bucket: Bucket) => Promise<void>;
}

const MANAGER = "bucket-operator";
const LABEL = "swath.io/bucket";

interface Secret {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

/** Keys of buckets as Secrets with `access`, `secret`, `bucketname` and `projectid`. */
export function createBucketSecrets(api: ClusterApi): BucketSecrets {
  const pathOf = ({ secretName, secretNamespace, namespace }: Bucket) => {
    const home = secretNamespace ?? namespace ?? api.namespace;
    return secretName === null
      ? undefined
      : { home, name: secretName, path: `/api/v1/namespaces/${home}/secrets/${secretName}` };
  };
  return {
    put: async (bucket) => {
      const { made, name, bucketName } = bucket;
      const place = pathOf(bucket);
      if (place === undefined || made.access === undefined || made.secret === undefined) {
        return;
      }
      await refuseForbidden(place.home, async () => {
        const existing = await api.get<Secret>(place.path);
        if (existing !== undefined && existing.metadata.labels?.[LABEL] !== name) {
          throw new StorageRefusal(
            "SecretTaken",
            `Secret ${place.name} in namespace ${place.home} is not this bucket's; name another in secretName`,
          );
        }
        await api.apply(
          place.path,
          {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: place.name, namespace: place.home, labels: { [LABEL]: name } },
            type: "Opaque",
            stringData: {
              access: made.access,
              secret: made.secret,
              bucketname: bucketName,
              projectid: made.projectId ?? "",
            },
          },
          MANAGER,
        );
      });
    },
    remove: async (bucket) => {
      const place = pathOf(bucket);
      if (place !== undefined) {
        await refuseForbidden(place.home, async () => {
          const existing = await api.get<Secret>(place.path);
          if (existing?.metadata.labels?.[LABEL] === bucket.name) {
            await api.remove(place.path);
          }
        });
      }
    },
  };
}

async function refuseForbidden(namespace: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ClusterApiError && error.status === 403) {
      throw new StorageRefusal(
        "SecretForbidden",
        `the operator may not write Secrets in namespace ${namespace}, only in namespaces of the deployment: ${error.message}`,
      );
    }
    throw error;
  }
}
