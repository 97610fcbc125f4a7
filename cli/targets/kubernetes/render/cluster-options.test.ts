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
const specOf = (object: unknown): any => (object as any).spec;
const pods = (objects: ReturnType<typeof render>) =>
  objects
    .filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind))
    .map((object) => specOf(object).template.spec);

test("services are spread over nodes; nothing else is asked of a cluster by itself", () => {
  for (const pod of pods(render({}))) {
    const isTask = pod.restartPolicy === "OnFailure";
    assert.equal(pod.topologySpreadConstraints?.[0].topologyKey, isTask ? undefined : "kubernetes.io/hostname");
    for (const field of ["nodeSelector", "tolerations", "priorityClassName", "imagePullSecrets"]) {
      assert.equal(pod[field], undefined);
    }
  }
});

test("nodes, taints, priority and pull secrets reach every pod", () => {
  const all = pods(
    render({
      POD_NODE_SELECTOR: "disk=ssd",
      POD_TOLERATIONS: "dedicated=eo:NoSchedule,spot",
      POD_PRIORITY_CLASS: "platform",
      IMAGE_PULL_SECRETS: "one,two",
    }),
  );
  assert.ok(all.length > 5);
  for (const pod of all) {
    assert.deepEqual(pod.nodeSelector, { disk: "ssd" });
    assert.equal(pod.tolerations.length, 2);
    assert.equal(pod.priorityClassName, "platform");
    assert.deepEqual(pod.imagePullSecrets, [{ name: "one" }, { name: "two" }]);
  }
});

test("hosts have the class of INGRESS_CLASS", () => {
  const classes = render({ INGRESS_CLASS: "traefik" })
    .filter(({ kind, metadata }) => kind === "Ingress" && metadata.name !== "portal")
    .map((object) => specOf(object).ingressClassName);
  assert.deepEqual([...new Set(classes)], ["traefik"]);
});

test("metrics are read from the stated namespace alone", () => {
  const policies = (env: Record<string, string>) =>
    render(env).filter(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === "allow-metrics");
  assert.deepEqual(policies({}), []);
  const found = policies({ METRICS_NAMESPACE: "monitoring", SERVICE_MONITORS: "true" });
  assert.ok(found.length >= 4);
  assert.deepEqual(specOf(found[0]).ingress, [
    {
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ port: 9090, protocol: "TCP" }],
    },
  ]);
});

test("the pod that proves a host to a certificate authority is reached, with TLS only", () => {
  const count = (useTls: string) =>
    render({ USE_TLS: useTls }).filter(({ metadata }) => metadata.name === "allow-acme-solver").length;
  assert.equal(count("false"), 0);
  assert.ok(count("true") >= 4);
});
