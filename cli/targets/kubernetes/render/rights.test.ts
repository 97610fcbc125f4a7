import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

function render(minor: number) {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false" },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts,
  });
  return renderPlan({ ...createPlan(config, components), cluster: { minor, seal: (hash) => hash } });
}

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rules of each ClusterRole that a ClusterRoleBinding gives in all namespaces. */
const clusterWide = (minor: number) => {
  const objects = render(minor);
  const bound = new Set(
    objects
      .filter(({ kind }) => kind === "ClusterRoleBinding")
      .map((object) => (object["roleRef"] as { name: string }).name),
  );
  return objects
    .filter(({ kind, metadata }) => kind === "ClusterRole" && bound.has(metadata.name))
    .flatMap((object) => object["rules"] as readonly Rule[]);
};

test("no component has a right on Secrets or pods in all namespaces", () => {
  for (const { resources } of clusterWide(34)) {
    for (const resource of ["secrets", "pods", "pods/log", "pods/exec", "configmaps", "serviceaccounts"]) {
      assert.ok(!resources.includes(resource), resource);
    }
  }
});

test("roles can be bound by name only, and none can be changed", () => {
  const rbac = clusterWide(34).filter(({ resources }) => resources.some((name) => name.includes("roles")));
  assert.equal(rbac.length, 1);
  assert.deepEqual(
    [rbac[0]?.resources, rbac[0]?.verbs, rbac[0]?.resourceNames?.length],
    [["clusterroles"], ["bind"], 1],
  );
});

test("who makes namespaces is held to their label where the cluster can do that", () => {
  const policies = (minor: number) => render(minor).filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
  assert.deepEqual(policies(29), []);
  const [policy, binding] = policies(30);
  assert.equal((binding?.["spec"] as { policyName: string } | undefined)?.policyName, policy?.metadata.name);
  const text = JSON.stringify(policy);
  assert.match(text, /system:serviceaccount:rm:workspace-reconciler/);
  assert.match(text, /swath\.io\/workspace/);
});
