import assert from "node:assert/strict";
import { test } from "node:test";

import { type Owner, waitUntilCollected } from "./wait-until-gone.ts";

const ROLE = "/apis/rbac.authorization.k8s.io/v1/namespaces/ws-eric/roles/reader";
const SECRETS = "/api/v1/namespaces/ws-eric/secrets";

/** @param rounds what the cluster has each time the object is asked for; the last one from then on */
function openCluster(
  ...rounds: readonly Readonly<Record<string, { uid?: string; ownerReferences?: readonly Owner[] }>>[]
) {
  let asked = 0;
  return {
    asked: () => asked,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the API's own
    get: async <T>(path: string): Promise<T | undefined> => {
      asked += path === ROLE ? 1 : 0;
      const metadata = rounds[Math.min(asked, rounds.length) - 1]?.[path];
      return metadata === undefined ? undefined : ({ metadata } as T);
    },
  };
}

const owner = (name: string, uid: string): Owner => ({ apiVersion: "v1", kind: "Secret", name, uid });

test("an object that only ended servers own is awaited until the cluster has removed it", async () => {
  const orphan = { ownerReferences: [owner("jupyter-eric-lab", "1"), owner("jupyter-eric-old", "2")] };
  // A server of the same name has another Secret by now.
  const cluster = openCluster(
    { [ROLE]: orphan, [`${SECRETS}/jupyter-eric-lab`]: { uid: "3" } },
    { [ROLE]: orphan },
    {},
  );
  await waitUntilCollected(cluster, ROLE, "ws-eric");
  assert.equal(cluster.asked(), 3);
});

test("what a running server, something else or nothing owns is there to stay", async () => {
  const running = { [`${SECRETS}/jupyter-eric-lab`]: { uid: "1" } };
  for (const ownerReferences of [
    [owner("jupyter-eric-lab", "1"), owner("jupyter-eric-old", "2")],
    [{ ...owner("controller", "9"), kind: "Deployment" }],
    [],
    undefined,
  ]) {
    const cluster = openCluster({ ...running, [ROLE]: { ...(ownerReferences !== undefined && { ownerReferences }) } });
    await waitUntilCollected(cluster, ROLE, "ws-eric");
    assert.equal(cluster.asked(), 1);
  }
});
