import assert from "node:assert/strict";
import { test } from "node:test";

import { assessRollout } from "./rollout.ts";

const object = (kind: string, generation: number, status: object, replicas = 1) => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "x", generation },
  spec: { replicas },
  status,
});
const deployment = (status: object) => assessRollout(object("Deployment", 2, { observedGeneration: 2, ...status }));

test("a Deployment is done when only new pods are left and all of them serve", () => {
  const full = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  assert.equal(deployment(full).state, "done");
  assert.equal(deployment({ ...full, replicas: 2 }).state, "underway", "an old pod is still there");
  assert.equal(deployment({ ...full, availableReplicas: 0 }).state, "underway");
  assert.equal(deployment({ ...full, observedGeneration: 1 }).state, "underway", "nobody has looked at it yet");
});

test("pods that nobody may make are a reason", () => {
  const conditions = [{ type: "ReplicaFailure", status: "True", message: "exceeded quota" }];
  assert.deepEqual(deployment({ conditions }), { state: "underway", reason: "exceeded quota" });
});

test("a StatefulSet is done when its revision is the wanted one and ready", () => {
  const assess = (status: object) => assessRollout(object("StatefulSet", 1, { observedGeneration: 1, ...status }));
  assert.equal(assess({ currentRevision: "b", updateRevision: "b", readyReplicas: 1 }).state, "done");
  assert.equal(assess({ currentRevision: "a", updateRevision: "b", readyReplicas: 1 }).state, "underway");
  assert.equal(assess({ currentRevision: "b", updateRevision: "b" }).state, "underway");
});

test("a DaemonSet is done when every node has a new pod that serves", () => {
  const assess = (status: object) => assessRollout(object("DaemonSet", 1, { observedGeneration: 1, ...status }));
  const full = { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
  assert.equal(assess(full).state, "done");
  assert.equal(assess({ ...full, updatedNumberScheduled: 2 }).state, "underway");
  assert.equal(assess({ ...full, numberAvailable: 2 }).state, "underway");
  assert.equal(assess({ ...full, observedGeneration: 0 }).state, "underway");
});

test("a Job ends well or badly", () => {
  const assess = (conditions: object[]) => assessRollout(object("Job", 1, { conditions })).state;
  assert.equal(assess([]), "underway");
  assert.equal(assess([{ type: "Complete", status: "True" }]), "done");
  assert.equal(assess([{ type: "Failed", status: "True", message: "too often" }]), "failed");
});
