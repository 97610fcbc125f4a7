import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

function render(env: Readonly<Record<string, string>>) {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...env },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true },
  });
  return renderPlan(createPlan(config, components));
}

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const find = (objects: ReturnType<typeof render>, kind: string, name: string): any =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

const STEP_PODS = {
  namespaceSelector: {},
  podSelector: { matchExpressions: [{ key: "swath.io/cwl-run", operator: "Exists" }] },
};

test("files of steps go by the volume unless the operator says otherwise", () => {
  const objects = render({});
  assert.equal(find(objects, "DaemonSet", "ades-blobs"), undefined);
  assert.doesNotMatch(JSON.stringify(find(objects, "StatefulSet", "ades")), /POD_FILES|STEP_FILES/);
  assert.equal(find(objects, "NetworkPolicy", "tools-without-network").spec.egress, undefined);
});

test("through the object storage each node has a blob agent, the only one that tools' pods reach", () => {
  const objects = render({
    PROCESSING_STEP_FILES: "object-store",
    POD_NODE_SELECTOR: "disk=ssd",
    SERVICE_REPLICAS: "2",
  });
  const { spec } = find(objects, "DaemonSet", "ades-blobs");
  assert.equal(spec.replicas, undefined);
  assert.equal(spec.template.spec.nodeSelector, undefined, "tools run on every node");
  assert.equal(spec.template.spec.securityContext.runAsNonRoot, true);
  assert.deepEqual(find(objects, "Role", "ades-blobs").rules, [
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  ]);
  const service = find(objects, "Service", "ades-blobs").spec;
  assert.equal(service.internalTrafficPolicy, "Local");
  assert.deepEqual(find(objects, "NetworkPolicy", "allow-ades-blobs").spec.ingress, [
    { from: [STEP_PODS], ports: [{ port: 8090, protocol: "TCP" }] },
  ]);
  const { egress } = find(objects, "NetworkPolicy", "tools-without-network").spec;
  assert.deepEqual(egress, [
    {
      to: [
        {
          namespaceSelector: { matchLabels: { "swath.io/namespace": "zoo" } },
          podSelector: { matchLabels: { "app.kubernetes.io/name": "ades-blobs" } },
        },
      ],
      ports: [{ port: 8090, protocol: "TCP" }],
    },
  ]);
  assert.equal(find(objects, "NetworkPolicy", "tools-with-network").spec.egress.length, 4);
  assert.equal(find(objects, "PodDisruptionBudget", "ades-blobs"), undefined);
  // The embedded cluster has no pods.
  assert.equal(
    find(render({ PROCESSING_STEP_FILES: "object-store", REQUIRE_LOCALCLUSTER: "true" }), "DaemonSet", "ades-blobs"),
    undefined,
  );
});
