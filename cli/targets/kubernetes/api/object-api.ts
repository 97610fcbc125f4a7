import type { KubeConfig } from "@kubernetes/client-node";
import type { KubernetesObject } from "@swath/kubernetes";

import { ApiResponseError, sendToApi } from "./send.ts";

type Kind = Pick<KubernetesObject, "apiVersion" | "kind">;
type Reference = Pick<KubernetesObject, "apiVersion" | "kind" | "metadata">;

/** Reads and writes objects of any kind as the API has them, field by field. */
export interface ObjectApi {
  readonly create: (object: KubernetesObject) => Promise<KubernetesObject>;
  readonly read: (reference: Reference) => Promise<KubernetesObject>;
  /** Objects of a kind, in one namespace or in all. The items of the result name their kind. */
  readonly list: (
    kind: Kind,
    options: { readonly namespace?: string; readonly labels?: string },
  ) => Promise<readonly KubernetesObject[]>;
  /** Server-side apply; takes over fields that another manager set. With `dryRun` nothing is kept: the result is what it would be. */
  readonly apply: (
    object: KubernetesObject,
    fieldManager: string,
    options?: { readonly dryRun?: boolean },
  ) => Promise<KubernetesObject>;
  /** Replaces the whole object; refused with 409 when `metadata.resourceVersion` is not the present one. */
  readonly replace: (object: KubernetesObject) => Promise<KubernetesObject>;
  /** `options` is a DeleteOptions body. */
  readonly delete: (reference: Reference, options?: object) => Promise<void>;
}

interface ApiResource {
  /** Plural, as in paths; with a slash for sub-resources. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Every call throws {@link ApiResponseError} when the server refuses; 404 also where the cluster does not have the kind. */
export function createObjectApi(config: KubeConfig): ObjectApi {
  const groups = new Map<string, Promise<readonly ApiResource[]>>();

  const findResource = async ({ apiVersion, kind }: Kind): Promise<ApiResource> => {
    const base = groupPath(apiVersion);
    const known = groups.get(apiVersion) ?? loadResources(config, base);
    groups.set(apiVersion, known);
    // A failure is not remembered, nor is a list that lacks the kind: a chart may bring it a moment later.
    const resources = await known.catch((error: unknown) => {
      groups.delete(apiVersion);
      throw error;
    });
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
    if (found === undefined) {
      groups.delete(apiVersion);
      throw new ApiResponseError(404, { message: `the cluster has no kind ${kind} in ${apiVersion}` }, "GET", base);
    }
    return found;
  };
  const pathOf = async (kind: Kind, { namespace, name }: { namespace?: string; name?: string }): Promise<string> => {
    const resource = await findResource(kind);
    const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
    const item = name === undefined ? "" : `/${encodeURIComponent(name)}`;
    return `${groupPath(kind.apiVersion)}${scope}/${resource.name}${item}`;
  };
  /** Objects of a namespaced kind that name none are in `default`, as with kubectl. */
  const itemPath = async (reference: Reference): Promise<string> =>
    pathOf(reference, { namespace: reference.metadata.namespace ?? "default", name: reference.metadata.name });
  const send = (request: Parameters<typeof sendToApi>[1]): Promise<KubernetesObject> =>
    sendToApi(config, request) as Promise<KubernetesObject>;

  return {
    create: async (object) =>
      send({
        method: "POST",
        path: await pathOf(object, { namespace: object.metadata.namespace ?? "default" }),
        body: object,
      }),
    read: async (reference) => send({ method: "GET", path: await itemPath(reference) }),
    list: async (kind, { namespace, labels }) => {
      const path = await pathOf(kind, namespace === undefined ? {} : { namespace });
      const list = await send({ method: "GET", path, query: { labelSelector: labels } });
      // The items of a list do not name their kind.
      return (list["items"] as KubernetesObject[]).map((item) => ({ ...item, ...kindOf(kind) }));
    },
    apply: async (object, fieldManager, { dryRun = false } = {}) =>
      send({
        method: "PATCH",
        path: await itemPath(object),
        query: { fieldManager, force: "true", dryRun: dryRun ? "All" : undefined },
        body: object,
        contentType: "application/apply-patch+yaml",
      }),
    replace: async (object) => send({ method: "PUT", path: await itemPath(object), body: object }),
    delete: async (reference, options = {}) => {
      await send({ method: "DELETE", path: await itemPath(reference), body: options });
    },
  };
}

const kindOf = ({ apiVersion, kind }: Kind): Kind => ({ apiVersion, kind });

/** The core group is at another place than all the others. */
const groupPath = (apiVersion: string): string =>
  apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

async function loadResources(config: KubeConfig, path: string): Promise<readonly ApiResource[]> {
  const { resources } = (await sendToApi(config, { method: "GET", path })) as {
    readonly resources: readonly ApiResource[];
  };
  return resources;
}
