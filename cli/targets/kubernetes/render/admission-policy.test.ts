// The policies that a cluster from 1.30 on evaluates, evaluated here by an implementation of CEL: no such cluster is at hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Environment } from "@marcbachmann/cel-js";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

interface PolicySpec {
  readonly matchConstraints: {
    readonly resourceRules: readonly {
      readonly resources: readonly string[];
      readonly operations: readonly string[];
    }[];
  };
  readonly matchConditions: readonly { readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/** What an API server gives an expression; what is not there is null. */
interface AdmissionRequest {
  readonly resource: string;
  readonly account: string;
  readonly namespace?: string;
  readonly object?: object;
  readonly oldObject?: object;
  readonly namespaceObject?: object;
}

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
const { config } = resolveConfig({
  env: { REQUIRE_LOCALCLUSTER: "false", PLATFORM_VARIANT: "A" },
  args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
  facts,
});
const policies = renderPlan({ ...createPlan(config, components), cluster: { minor: 30 } })
  .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
  .map((object) => object["spec"] as PolicySpec);
const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
const RECONCILER = "system:serviceaccount:rm:workspace-reconciler";
const HUB = "system:serviceaccount:proc:application-hub";
const BINDER = "system:serviceaccount:rm:namespace-binder";

/** @returns the messages of a cluster that refuses a request; none where it lets it through */
function decide({ resource, account, namespace = "", object, oldObject, namespaceObject }: AdmissionRequest) {
  const context = {
    request: { userInfo: { username: account }, resource: { resource }, namespace },
    object: object ?? null,
    oldObject: oldObject ?? null,
    namespaceObject: namespaceObject ?? null,
  };
  return policies
    .filter(
      ({ matchConstraints, matchConditions }) =>
        matchConstraints.resourceRules.some(({ resources }) => resources.includes(resource)) &&
        matchConditions.every(({ expression }) => environment.evaluate(expression, context) === true),
    )
    .flatMap(({ validations }) =>
      validations.filter(({ expression }) => isRefused(expression, context)).map(({ message }) => message),
    );
}

/** With failurePolicy Fail an expression that fails refuses as well. */
function isRefused(expression: string, context: Record<string, unknown>): boolean {
  try {
    return environment.evaluate(expression, context) !== true;
  } catch {
    return true;
  }
}

const namespaceOf = (name: string, labels?: object) => ({ metadata: { name, ...(labels && { labels }) } });
const labelled = (name: string) =>
  namespaceOf(name, { "swath.io/workspace": name, "swath.io/deployment": config.clusterName });
const binding = (kind: string, name: string, subject: object) => ({ roleRef: { kind, name }, subjects: [subject] });

test("a service that makes namespaces makes, changes and removes none but those with its label", () => {
  for (const account of [RECONCILER, HUB]) {
    const send = (request: Partial<AdmissionRequest>) => decide({ resource: "namespaces", account, ...request });
    const own = labelled("ws-eric");
    assert.deepEqual(send({ object: own }), [], "create");
    assert.deepEqual(send({ object: own, oldObject: own }), [], "update");
    assert.deepEqual(send({ oldObject: own }), [], "delete");
    const refused = /may only (make|change) namespaces that carry the label/;
    for (const other of [
      namespaceOf("kube-system"),
      namespaceOf("kube-system", { "kubernetes.io/metadata.name": "kube-system" }),
      // The label of another namespace, and of another deployment.
      namespaceOf("kube-system", { "swath.io/workspace": "ws-eric", "swath.io/deployment": config.clusterName }),
      namespaceOf("ws-eric", { "swath.io/workspace": "ws-eric", "swath.io/deployment": "another" }),
    ]) {
      assert.match(send({ object: other }).join(), refused, JSON.stringify(other));
      assert.match(send({ oldObject: other }).join(), refused, JSON.stringify(other));
      assert.match(send({ oldObject: other, object: own }).join(), refused, "labels are not taken over");
    }
  }
  // Others are not held to it.
  assert.deepEqual(decide({ resource: "namespaces", account: "eric", object: namespaceOf("shop") }), []);
});

test("the hub binds accounts of a namespace of its own to Roles of it, and nothing else", () => {
  const send = (object: object, namespaceObject = labelled("ws-eric")) =>
    decide({ resource: "rolebindings", account: HUB, namespace: "ws-eric", object, namespaceObject });
  const subject = { kind: "ServiceAccount", name: "default" };
  assert.deepEqual(send(binding("Role", "reader", subject)), []);
  assert.deepEqual(send(binding("Role", "reader", { ...subject, namespace: "ws-eric" })), []);
  for (const bad of [
    binding("ClusterRole", "cluster-admin", subject),
    binding("Role", "reader", { ...subject, namespace: "proc" }),
    binding("Role", "reader", { kind: "User", name: "eve" }),
  ]) {
    assert.match(send(bad).join(), /may only bind accounts of the namespace/, JSON.stringify(bad));
  }
  assert.match(send(binding("Role", "reader", subject), namespaceOf("um")).join(), /may only bind roles in namespaces/);
});

test("the binder gives services that make namespaces their own roles there, and nobody else any", () => {
  const send = (object: object, namespaceObject = labelled("ws-eric")) =>
    decide({ resource: "rolebindings", account: BINDER, namespace: "ws-eric", object, namespaceObject });
  const roles = policies
    .flatMap(({ validations }) => validations.map(({ expression }) => expression))
    .flatMap((text) => [
      ...text.matchAll(/roleRef\.name == "([^"]+)".*?s\.name == "([^"]+)" && s\.namespace == "([^"]+)"/g),
    ])
    .map(([, role = "", name = "", namespace = ""]) => ({ role, name, namespace }));
  assert.deepEqual(roles.map(({ name }) => name).toSorted(), ["application-hub", "workspace-reconciler"]);
  for (const { role, name, namespace } of roles) {
    const subject = { kind: "ServiceAccount", name, namespace };
    assert.deepEqual(send(binding("ClusterRole", role, subject)), []);
    assert.notDeepEqual(send(binding("ClusterRole", "cluster-admin", subject)), []);
    assert.notDeepEqual(send(binding("ClusterRole", role, { ...subject, name: "default" })), []);
    assert.notDeepEqual(send(binding("ClusterRole", role, subject), namespaceOf("kube-system")), []);
  }
});
