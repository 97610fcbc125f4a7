import type { KubernetesObject } from "@swath/kubernetes";
import type { ClusterApi } from "@swath/kubernetes/api";

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Where the API has objects of a kind: the folder of the namespace. */
export interface ObjectPaths {
  /** @throws {Error} for what is no kind of the cluster, or has no namespace */
  readonly folderOf: (object: KubernetesObject, namespace: string) => Promise<string>;
}

const KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    "v1/Secret": "secrets",
    "v1/ConfigMap": "configmaps",
    "v1/PersistentVolumeClaim": "persistentvolumeclaims",
    "v1/Pod": "pods",
    "networking.k8s.io/v1/NetworkPolicy": "networkpolicies",
    "rbac.authorization.k8s.io/v1/Role": "roles",
    "rbac.authorization.k8s.io/v1/RoleBinding": "rolebindings",
  }),
);

/** Profiles bring objects of any kind (`manifests`): what is not known is asked for, once. */
export function createObjectPaths(api: ClusterApi): ObjectPaths {
  const requested = new Map<string, Promise<ResourceList | undefined>>();
  return {
    folderOf: async ({ apiVersion, kind }, namespace) => {
      const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const known = KNOWN.get(`${apiVersion}/${kind}`);
      if (known !== undefined) {
        return `${root}/namespaces/${namespace}/${known}`;
      }
      const list = await (requested.get(root) ?? api.get<ResourceList>(root));
      requested.set(root, Promise.resolve(list));
      const found = list?.resources.find((each) => each.kind === kind && !each.name.includes("/"));
      if (found === undefined || !found.namespaced) {
        throw new Error(
          found === undefined
            ? `the cluster has no kind ${kind} of ${apiVersion}, which the profile's manifests name`
            : `${kind} of the profile's manifests has no namespace; profiles bring only what belongs to one`,
        );
      }
      return `${root}/namespaces/${namespace}/${found.name}`;
    },
  };
}
