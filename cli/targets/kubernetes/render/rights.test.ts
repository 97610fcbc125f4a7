import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

function render(minor: number, env: Readonly<Record<string, string>> = {}) {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...env },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts,
  });
  return renderPlan({ ...createPlan(config, components), cluster: { minor } });
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
  // The reconciler of workspaces, and the application hub.
  assert.equal(rbac.length, 2);
  for (const rule of rbac) {
    assert.deepEqual([rule.resources, rule.verbs, rule.resourceNames?.length], [["clusterroles"], ["bind"], 1]);
  }
});

test("one program alone removes namespaces; the hub only makes those that are missing", () => {
  const verbs = clusterWide(34)
    .filter(({ resources }) => resources.includes("namespaces"))
    .map(({ verbs: each }) => each.join(" "));
  assert.deepEqual(verbs.toSorted(), ["get create", "get create patch delete", "list"]);
});

test("who makes namespaces is held to their label where the cluster can do that", () => {
  const policies = (minor: number) => render(minor).filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
  assert.deepEqual(policies(29), []);
  const all = policies(30);
  assert.equal(all.length, 4);
  for (const [account, bindsRoles] of [
    ["rm:workspace-reconciler", false],
    ["proc:application-hub", true],
  ] as const) {
    const policy = all.find((each) => JSON.stringify(each).includes(`system:serviceaccount:${account}\\"`));
    const text = JSON.stringify(policy);
    assert.match(text, /swath\.io\/workspace/);
    assert.equal(/roleRef\.kind == .{1,3}Role\W/.test(text), bindsRoles);
    assert.ok(
      all.some(({ spec }) => (spec as { policyName?: string }).policyName === policy?.metadata.name),
      account,
    );
  }
});

test("the bucket operator writes Secrets in namespaces that are named, and where the cluster can do that only its own", () => {
  const objects = render(34, { PLATFORM_VARIANT: "B", BUCKET_SECRET_NAMESPACES: "shop,lab" });
  const role = objects.find(
    ({ kind, metadata }) => kind === "ClusterRole" && metadata.name.endsWith("bucket-operator-secrets"),
  );
  assert.ok(role);
  const bindings = objects.filter(
    (object) => object.kind.endsWith("Binding") && JSON.stringify(object["roleRef"] ?? {}).includes(role.metadata.name),
  );
  assert.deepEqual(
    bindings.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`),
    ["RoleBinding lab", "RoleBinding shop"],
  );
  const policies = objects.filter(({ metadata }) => metadata.name.includes("labelled-secrets"));
  assert.deepEqual(
    policies.map(({ kind }) => kind),
    ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  );
  assert.match(JSON.stringify(policies[0]), /swath\.io\/bucket/);
  const none = render(34, { PLATFORM_VARIANT: "B" }).filter(
    (object) => object.kind === "RoleBinding" && JSON.stringify(object["roleRef"]).includes("bucket-operator"),
  );
  assert.deepEqual(none, []);
});
