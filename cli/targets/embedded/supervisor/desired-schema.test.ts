import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { parseDesiredState } from "./desired-schema.ts";
import { DesiredStateError, isPlanVariable } from "./plan-variables.ts";

const cluster = {
  name: "swath",
  domain: "swath.localhost",
  addresses: ["127.0.0.1"],
  httpPort: 80,
  httpsPort: 443,
  portsAreGiven: false,
  createdAt: "2026-01-01T00:00:00.000Z",
};

const planOf = (env: Record<string, string>) =>
  createPlan(
    resolveConfig({ env, args: { action: "apply" }, facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: false } })
      .config,
    components,
  );

/** As it arrives: through JSON. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const EVERYTHING = [
  {},
  { OPEN_INGRESS: "true", REQUIRE_DUMMY_SERVICE: "true" },
  { DEPLOYMENT_VARIANT: "B" },
  { DATABASE_URL: "postgresql://me:word@db.example/swath" },
];

test("accepts what the manifests of all components make", () => {
  for (const env of EVERYTHING) {
    const plan = planOf(env);
    assert.doesNotThrow(() => parseDesiredState(sent({ plan, cluster })), JSON.stringify(env));
    for (const { name, env: variables } of plan.workloads) {
      assert.deepEqual(
        Object.entries(variables).filter(([variable, value]) => !isPlanVariable(variable, value)),
        [],
        name,
      );
    }
  }
});

test("refuses a workload whose entry, component, names or fields leave the schema", () => {
  const plan = planOf({});
  const [first, ...rest] = plan.workloads;
  const changes: readonly Record<string, unknown>[] = [
    { entry: "../../../../tmp/evil" },
    { entry: "/tmp/evil" },
    { entry: "main.ts" },
    { component: "../tools" },
    { name: "../../x" },
    { namespace: ".." },
    { ports: [{ name: "../http", number: 1 }] },
    { mounts: [{ volume: "../../secrets", path: "/x" }] },
    { execArgv: ["--import=data:text/javascript,1"] },
    { program: "/bin/sh" },
    { env: { x: "lower case" } },
    { env: { PORT: { file: "/etc/shadow" } } },
    { env: { PORT: { peer: "../../../etc" } } },
  ];
  for (const change of changes) {
    const desired = sent({ plan: { ...plan, workloads: [{ ...first, ...change }, ...rest] }, cluster });
    assert.throws(() => parseDesiredState(desired), DesiredStateError, JSON.stringify(change));
  }
  for (const desired of [null, [], "plan", {}, { plan }, { plan, cluster, more: 1 }]) {
    assert.throws(() => parseDesiredState(sent(desired)), DesiredStateError);
  }
});

test("no plan may set a variable that changes the runtime", () => {
  for (const name of [
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "PYTHONPATH",
    "OPENSSL_CONF",
    "PATH",
    "HTTPS_PROXY",
    "SWATH_POD",
    "MANAGEMENT_LISTEN",
    "node_options",
  ]) {
    assert.equal(isPlanVariable(name, "x"), false, name);
  }
  for (const options of [
    "--max-old-space-size=64 --import=data:text/javascript,1",
    "--require=/tmp/x --max-old-space-size=9",
  ]) {
    assert.equal(isPlanVariable("NODE_OPTIONS", options), false, options);
  }
  assert.equal(isPlanVariable("NODE_OPTIONS", "--max-semi-space-size=2 --max-old-space-size=2048"), true);
  assert.equal(isPlanVariable("PUBLIC_URL", "https://x"), true);
});
