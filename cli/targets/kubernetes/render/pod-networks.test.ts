import assert from "node:assert/strict";
import { test } from "node:test";
import type { Component } from "@swath/manifest";
import { resolveConfig } from "../../../config/resolve.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
const resources = { requests: { cpu: "1m", memory: "1Mi" }, limits: { memory: "1Mi" } };
const starter: Component = {
  name: "starter",
  title: "Starter of pods",
  namespace: "zoo",
  enabled: () => true,
  deploy: () => ({
    workloads: [
      {
        name: "starter",
        namespace: "zoo",
        component: "starter",
        kind: "service",
        env: { EXECUTOR: { onKubernetes: "pods" } },
        resources,
      },
    ],
    podNetworks: [
      { name: "closed", namespace: "zoo", pods: { net: "none" }, egress: "none" },
      { name: "outward", namespace: "zoo", pods: { net: "open" }, egress: "internet" },
    ],
  }),
};

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const find = (kind: string, name: string): any => {
  const { config } = resolveConfig({ env: {}, args: { arg3: "eo.example.org", arg4: "203.0.113.7" }, facts });
  const objects = renderPlan(createPlan(config, [starter]));
  return objects.find((object) => object.kind === kind && object.metadata.name === name);
};

test("pods that a workload starts reach nothing, and nobody reaches them", () => {
  assert.deepEqual(find("NetworkPolicy", "closed").spec, {
    podSelector: { matchLabels: { net: "none" } },
    policyTypes: ["Ingress", "Egress"],
  });
});

test("pods without network resolve no names: what they know would leave with these", () => {
  assert.deepEqual(find("NetworkPolicy", "default-deny").spec, {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
  });
  const { podSelector, egress } = find("NetworkPolicy", "allow-dns").spec;
  assert.deepEqual(podSelector, { matchExpressions: [{ key: "net", operator: "NotIn", values: ["none"] }] });
  assert.equal(egress.length, 1);
});

test("those that may go outward reach names and public addresses, nothing of the cluster", () => {
  const { egress, ingress } = find("NetworkPolicy", "outward").spec;
  assert.equal(ingress, undefined);
  assert.deepEqual(
    egress[0].ports.map(({ port }: { port: number }) => port),
    [53, 53],
  );
  const { cidr, except } = egress[1].to[0].ipBlock;
  assert.equal(cidr, "0.0.0.0/0");
  for (const network of ["10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"]) {
    assert.ok(except.includes(network), network);
  }
});

test("a text for Kubernetes is set there", () => {
  const [container] = find("Deployment", "starter").spec.template.spec.containers;
  assert.ok(
    container.env.some(({ name, value }: { name: string; value: string }) => name === "EXECUTOR" && value === "pods"),
  );
});
