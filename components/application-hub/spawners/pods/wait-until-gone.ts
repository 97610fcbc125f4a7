import { setTimeout as sleep } from "node:timers/promises";

import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

/** An entry of `metadata.ownerReferences`. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

type Reader = Pick<ClusterApi, "get">;

const LOOK_MS = 300;
const TIMEOUT_MS = 30_000;

/**
 * The cluster's garbage collector removes what ended servers owned a moment after them, even where another server becomes an owner in
 * that moment. So an object that only ended servers own has to be gone before it is made again.
 * @param path of the object
 */
export async function waitUntilCollected(api: Reader, path: string, namespace: string): Promise<void> {
  const hasEnded = async ({ kind, name, uid }: Owner) => {
    // Every server owns its objects by a Secret; what has other owners is not the hub's.
    const secret =
      kind === "Secret"
        ? await api.get<{ metadata: { uid: string } }>(`/api/v1/namespaces/${namespace}/secrets/${name}`)
        : undefined;
    return kind === "Secret" && secret?.metadata.uid !== uid;
  };
  await waitUntil(path, async () => {
    const object = await api
      .get<{ metadata: { ownerReferences?: readonly Owner[] } }>(path)
      .catch((error: unknown) => ignoreForbidden(error));
    const owners = object?.metadata.ownerReferences ?? [];
    return owners.length === 0 || (await Promise.all(owners.map(hasEnded))).includes(false);
  });
}

export const waitUntilRemoved = (api: Reader, path: string): Promise<void> =>
  waitUntil(path, async () => (await api.get(path)) === undefined);

async function waitUntil(path: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + TIMEOUT_MS; !(await isTrue()); await sleep(LOOK_MS)) {
    if (Date.now() > until) {
      throw new Error(`${path.slice(path.lastIndexOf("/") + 1)} of an earlier server does not end on the cluster`);
    }
  }
}

/** Without the namespace there are neither rights in it nor anything to remove. */
export function ignoreForbidden(error: unknown): undefined {
  if (error instanceof ClusterApiError && error.status === 403) {
    return undefined;
  }
  throw error;
}
