import assert from "node:assert/strict";
import { test } from "node:test";

import { keepReplicas } from "./keep-replicas.ts";

const deployment = (replicas?: number, name = "identity") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "um" },
  spec: { ...(replicas !== undefined && { replicas }), selector: {} },
});
const autoscaler = (name: string, namespace = "um") => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "any", namespace },
  spec: { minReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name } },
});

test("an autoscaler's number stays, whoever made the autoscaler", () => {
  const [object] = keepReplicas([deployment(1)], [deployment(5)], [autoscaler("identity")]);
  assert.deepEqual(object, deployment(5));
  const [own] = keepReplicas([deployment(), autoscaler("identity")], [deployment(5)], []);
  assert.deepEqual(own, deployment(5));
});

test("the first start has the autoscaler's least", () => {
  assert.deepEqual(keepReplicas([deployment(), autoscaler("identity")], [], [])[0], deployment(2));
});

test("without an autoscaler the number is that of the plan", () => {
  const others = [autoscaler("other"), autoscaler("identity", "rm")];
  assert.deepEqual(keepReplicas([deployment(1)], [deployment(5)], others), [deployment(1)]);
});
