import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { planAccounts } from "./plan-accounts.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: false };
const plan = createPlan(resolveConfig({ env: {}, args: { action: "apply" }, facts }).config, components);
const purposes: string[] = [];
/** Numbers that tell what they are for. */
const numberOf = (purpose: string): number => {
  if (!purposes.includes(purpose)) {
    purposes.push(purpose);
  }
  return purposes.indexOf(purpose);
};
const of = (workload: string, confinesSandboxes = true) => {
  const found = planAccounts(plan, numberOf, { confinesSandboxes }).get(workload);
  return {
    user: found?.account && purposes[found.account.uid],
    opens: found?.account?.groups.map((group) => purposes[group] ?? ""),
    listens: Object.values(found?.socketGroups ?? {}).map((group) => purposes[group]),
    capabilities: found?.account?.capabilities,
  };
};

test("a component has one account, with the groups of its own sockets and of those that it is told the addresses of", () => {
  const { user, opens = [], listens, capabilities } = of("identity-api");
  assert.equal(user, "component/identity-api");
  assert.deepEqual(opens.toSorted(), ["socket/identity-api/http", "socket/identity/http"]);
  assert.deepEqual(listens, ["socket/identity-api/http"]);
  assert.equal(capabilities, undefined);
  const portal = of("portal").opens ?? [];
  for (const socket of ["socket/supervisor/status", "socket/identity/http", "socket/postgres/postgres"]) {
    assert.ok(portal.includes(socket), `${socket} of ${portal.join()}`);
  }
  assert.ok(!portal.includes("socket/registration-api/internal"));
  assert.equal(of("workspace-reconciler").user, of("workspace-api").user);
});

test("the ingress opens what hosts lead to and nothing else, and keeps the right to low ports", () => {
  const { user, opens = [], capabilities } = of("ingress");
  assert.equal(user, "component/ingress");
  assert.deepEqual(capabilities, ["net_bind_service"]);
  const led = plan.routes.map(({ workload, port }) => `socket/${workload}/${port}`);
  assert.deepEqual(opens.toSorted(), [...new Set(led)].toSorted());
});

test("what makes sandboxes stays root's where that takes root, as PostgreSQL keeps its named account; both have groups for their sockets", () => {
  assert.equal(of("ades").user, "component/ades");
  assert.equal(of("ades", false).user, undefined);
  assert.deepEqual(of("ades", false).listens, ["socket/ades/http"]);
  assert.equal(of("postgres").user, undefined);
  assert.deepEqual(of("postgres").listens, ["socket/postgres/postgres"]);
});
