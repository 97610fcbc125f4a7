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

test("one program alone binds roles: two by name; no other changes rights outside of a namespace of its own", () => {
  for (const minor of [20, 34]) {
    const rbac = clusterWide(minor).filter(({ resources }) => resources.some((name) => /role/.test(name)));
    assert.deepEqual(
      rbac.map(({ resources, verbs, resourceNames }) => [resources, verbs, resourceNames]),
      [
        [["rolebindings"], ["get", "list", "create", "patch"], undefined],
        [
          ["clusterroles"],
          ["bind"],
          ["swath-rm-workspace-reconciler-own-namespaces", "swath-proc-application-hub-own-namespaces"],
        ],
      ],
    );
    const [binder] = render(minor).filter(
      (object) =>
        object.kind === "ClusterRoleBinding" &&
        (object["roleRef"] as { name: string }).name === "swath-rm-namespace-binder",
    );
    assert.deepEqual(binder?.["subjects"], [{ kind: "ServiceAccount", name: "namespace-binder", namespace: "rm" }]);
  }
});

test("no component changes or removes a namespace that is not a workspace's; those who make some label none that exists", () => {
  const verbs = clusterWide(20)
    .filter(({ resources }) => resources.includes("namespaces"))
    .map(({ verbs: each }) => each.join(" "));
  assert.deepEqual(verbs.toSorted(), ["get create", "get create", "list", "list watch"]);
});

test("nobody asks the namespace binder: it listens on no port and reads no Secret", () => {
  const objects = render(34).filter(
    ({ metadata }) => metadata.name === "namespace-binder" || metadata.name === "swath-rm-namespace-binder",
  );
  assert.deepEqual(
    objects.filter(({ kind }) => kind === "Service" || kind === "Secret"),
    [],
  );
  assert.ok(!JSON.stringify(objects.filter(({ kind }) => kind === "ClusterRole")).includes("secrets"));
});

test("who makes namespaces, and who binds, is held to their label where the cluster can do that", () => {
  const policies = (minor: number) => render(minor).filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
  assert.deepEqual(policies(29), []);
  const all = policies(30);
  assert.equal(all.length, 6);
  for (const [account, roleKinds] of [
    ["rm:workspace-reconciler", []],
    ["proc:application-hub", ["Role"]],
    ["rm:namespace-binder", ["ClusterRole"]],
  ] as const) {
    const policy = all.find((each) => JSON.stringify(each).includes(`== \\"system:serviceaccount:${account}\\"`));
    const text = JSON.stringify(policy);
    assert.match(text, /swath\.io\/workspace/);
    const kinds = [...text.matchAll(/roleRef\.kind == \\"(\w+)\\"/g)].map(([, kind]) => kind);
    assert.deepEqual([...new Set(kinds)], roleKinds, account);
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
