import assert from "node:assert/strict";
import { test } from "node:test";

import type { LivePod } from "./live-pod.ts";
import { toPodStatus } from "./pod-status.ts";

const pod = (status: LivePod["status"], metadata: Partial<LivePod["metadata"]> = {}): LivePod => ({
  metadata: {
    name: "identity-6c9",
    namespace: "um",
    labels: { "app.kubernetes.io/name": "identity", "app.kubernetes.io/component": "identity" },
    creationTimestamp: "2026-01-02T03:04:05Z",
    ...metadata,
  },
  ...(status && { status }),
});
const container = (state: object, more: object = {}) => ({ ready: false, restartCount: 0, state, ...more });

test("a pod that serves", () => {
  const status = {
    phase: "Running",
    containerStatuses: [container({ running: {} }, { ready: true, restartCount: 2 })],
  };
  assert.deepEqual(toPodStatus(pod(status)), {
    namespace: "um",
    name: "identity-6c9",
    workload: "identity",
    component: "identity",
    phase: "Running",
    ready: true,
    restarts: 2,
    createdAt: "2026-01-02T03:04:05.000Z",
  });
});

test("why a pod is not ready: what the cluster says of it", () => {
  const cases: readonly [LivePod["status"], string | undefined, string, string | undefined][] = [
    [
      { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }] },
      undefined,
      "Pending",
      "0/1 nodes",
    ],
    [
      { phase: "Pending", containerStatuses: [container({ waiting: { reason: "ContainerCreating" } })] },
      "FailedMount: no volume",
      "Pending",
      "FailedMount: no volume",
    ],
    [{ phase: "Running", containerStatuses: [container({ running: {} })] }, undefined, "Running", "starting"],
    [
      {
        phase: "Running",
        containerStatuses: [
          container(
            { waiting: { reason: "CrashLoopBackOff" } },
            { lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
          ),
        ],
      },
      undefined,
      "CrashLoopBackOff",
      "ended with status 137 (OOMKilled)",
    ],
    [{ phase: "Succeeded" }, undefined, "Completed", undefined],
    [{ phase: "Failed", reason: "Evicted" }, undefined, "Error", "Evicted"],
  ];
  for (const [status, warning, phase, message] of cases) {
    const found = toPodStatus(pod(status), warning);
    assert.deepEqual([found.phase, found.message, found.ready], [phase, message, false]);
  }
});

test("an image that cannot be had is one trouble with one name, and hopeless", () => {
  const of = (reason: string) =>
    toPodStatus(
      pod({ phase: "Pending", containerStatuses: [container({ waiting: { reason, message: "no such host" } })] }),
    );
  assert.equal(of("ImagePullBackOff").message, "ErrImagePull: no such host");
  assert.deepEqual(of("ImagePullBackOff"), of("ErrImagePull"));
  assert.equal(of("ErrImagePull").stuck, true);
});

test("a pod on its way out is nothing else any more", () => {
  const leaving = { deletionTimestamp: "2026-01-02T03:04:06Z" };
  assert.equal(toPodStatus(pod({ phase: "Running" }, leaving)).phase, "Terminating");
});
