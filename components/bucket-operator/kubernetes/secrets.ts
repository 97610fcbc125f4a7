import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

import { StorageRefusal } from "../storage/bucket-storage.ts";
import type { Bucket } from "../store/buckets.ts";
import { BUCKET_LABEL } from "./label.ts";

export interface BucketSecrets {
  readonly put: (bucket: Bucket) => Promise<void>;
  readonly remove: (bucket: Bucket) => Promise<void>;
}

const MANAGER = "bucket-operator";

interface Secret {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

/** Keys of buckets as Secrets with `access`, `secret`, `bucketname` and `projectid`. */
export function createBucketSecrets(api: ClusterApi, role: string | undefined): BucketSecrets {
  const pathOf = ({ secretName, secretNamespace, namespace }: Bucket) => {
    const home = secretNamespace ?? namespace ?? api.namespace;
    return secretName === null
      ? undefined
      : { home, name: secretName, path: `/api/v1/namespaces/${home}/secrets/${secretName}` };
  };
  const refuseForbidden = async (namespace: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof ClusterApiError && error.status === 403) {
        const bind =
          role === undefined
            ? ""
            : `, or whoever owns the namespace gives the right: kubectl create rolebinding ${MANAGER} -n ${namespace} --clusterrole=${role} --serviceaccount=${api.namespace}:${MANAGER}`;
        throw new StorageRefusal(
          "SecretForbidden",
          `the operator may not write Secrets in namespace ${namespace}; add it to BUCKET_SECRET_NAMESPACES and deploy again${bind} (${error.message})`,
        );
      }
      throw error;
    }
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
        if (existing !== undefined && existing.metadata.labels?.[BUCKET_LABEL] !== name) {
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
            metadata: { name: place.name, namespace: place.home, labels: { [BUCKET_LABEL]: name } },
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
          if (existing?.metadata.labels?.[BUCKET_LABEL] === bucket.name) {
            await api.remove(place.path);
          }
        });
      }
    },
  };
}
