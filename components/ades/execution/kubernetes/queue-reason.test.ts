import assert from "node:assert/strict";
import { test } from "node:test";

import type { ClusterApi } from "@swath/kubernetes/api";

import type { Pod } from "./pod-types.ts";
import { createQueueReason } from "./queue-reason.ts";

const gated = (labels: Record<string, string> = { "kueue.x-k8s.io/queue-name": "eo" }): Pod => ({
  metadata: { name: "p", uid: "u", resourceVersion: "1", creationTimestamp: "", labels },
  status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
});
// Conditions of a workload as Kueue 0.19 sets them.
const misconfigured = {
  conditions: [
    { type: "PodsReady", status: "False", message: "Not all pods are ready or succeeded" },
    { type: "QuotaReserved", status: "False", reason: "Misconfigured", message: "LocalQueue eo doesn't exist" },
  ],
};

function openQueue(answer: (path: string) => object | undefined) {
  const asked: string[] = [];
  const get = async (path: string, query: Record<string, string>) => {
    asked.push(`${path}?${String(query["labelSelector"])}`);
    return answer(path);
  };
  return { asked, api: { get } as unknown as ClusterApi };
}

test("Kueue says why a pod waits, asked for all pods' sake only now and then", async () => {
  const { api, asked } = openQueue(() => ({ items: [{ status: misconfigured }] }));
  const reasonOf = createQueueReason(api, "zoo");
  assert.equal(await reasonOf(gated()), "LocalQueue eo doesn't exist");
  assert.equal(await reasonOf(gated()), "LocalQueue eo doesn't exist");
  assert.deepEqual(asked, ["/apis/kueue.x-k8s.io/v1beta2/namespaces/zoo/workloads?kueue.x-k8s.io/job-uid=u"]);
});

test("an earlier Kueue is asked in its own version; none, a refusal, and pods that do not wait are no trouble", async () => {
  const earlier = openQueue((path) =>
    path.includes("/v1beta1/") ? { items: [{ status: misconfigured }] } : undefined,
  );
  assert.equal(await createQueueReason(earlier.api, "zoo")(gated()), "LocalQueue eo doesn't exist");
  const none = openQueue(() => undefined);
  assert.equal(await createQueueReason(none.api, "zoo")(gated()), undefined);
  const refusing = openQueue(() => {
    throw new Error("forbidden");
  });
  assert.equal(await createQueueReason(refusing.api, "zoo")(gated()), undefined);
  const unasked = openQueue(() => ({ items: [] }));
  assert.equal(await createQueueReason(unasked.api, "zoo")({ ...gated(), status: {} }), undefined);
  assert.equal(await createQueueReason(unasked.api, "zoo")(gated({})), undefined);
  assert.deepEqual(unasked.asked, []);
});
