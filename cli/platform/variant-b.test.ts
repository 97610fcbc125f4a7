import assert from "node:assert/strict";
import { test } from "node:test";

import type { Variables } from "@swath/manifest";

import { formatMistake, formatWarning } from "../config/report.ts";
import { resolveConfig } from "../config/resolve.ts";
import { deployUsage } from "../config/arguments.ts";
import { components } from "./components.ts";
import { listMissingComponents } from "./missing-components.ts";
import { createPlan } from "./plan.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
const resolve = (env: Record<string, string>, args: object = {}) =>
  resolveConfig({ env: { PLATFORM_VARIANT: "B", ...env }, args, facts });

/** Switches of the specification for variant B, and what is left of them where others are set. */
const DERIVED: readonly (readonly [
  env: Record<string, string>,
  expected: Partial<Record<keyof Variables, boolean>>,
])[] = [
  [
    {},
    {
      REQUIRE_LOGIN_SERVICE: true,
      REQUIRE_PDP: true,
      REQUIRE_USER_PROFILE: true,
      REQUIRE_PORTAL: true,
      REQUIRE_PDE: true,
      REQUIRE_ADES: true,
      REQUIRE_RESOURCE_CATALOGUE: true,
      REQUIRE_DATA_ACCESS: true,
      REQUIRE_WORKSPACE_API: true,
      REQUIRE_BUCKET_OPERATOR: true,
      REQUIRE_REGISTRY: true,
      REQUIRE_OBJSTORE: true,
      REQUIRE_DUMMY_SERVICE: false,
      REQUIRE_DUMMY_SERVICE_PROTECTION: false,
      REQUIRE_ADES_PROTECTION: true,
      REQUIRE_WORKSPACE_API_PROTECTION: true,
      REQUIRE_IDENTITY_SERVICE: false,
      REQUIRE_REGISTRATION_API: false,
      REQUIRE_APPLICATION_HUB: false,
      OPEN_INGRESS: false,
    },
  ],
  [{ REQUIRE_WORKSPACE_API: "false" }, { REQUIRE_BUCKET_OPERATOR: false, REQUIRE_REGISTRY: false }],
  [{ REQUIRE_WORKSPACE_API: "false", OS_DOMAINNAME: "cloud_XXXXX" }, { REQUIRE_BUCKET_OPERATOR: false }],
  [{ REQUIRE_WORKSPACE_API: "false", OS_DOMAINNAME: "cloud_00001" }, { REQUIRE_BUCKET_OPERATOR: true }],
  [{ REQUIRE_WORKSPACE_API: "false", REQUIRE_DATA_ACCESS: "false" }, { REQUIRE_OBJSTORE: false }],
  [
    { REQUIRE_WORKSPACE_API: "false", REQUIRE_DATA_ACCESS: "false", STAGEOUT_TARGET: "minio" },
    { REQUIRE_OBJSTORE: true },
  ],
  [{ REQUIRE_DUMMY_SERVICE: "true" }, { REQUIRE_DUMMY_SERVICE_PROTECTION: true }],
  [{ REQUIRE_ADES: "false" }, { REQUIRE_ADES_PROTECTION: false }],
  [{ OPEN_INGRESS: "true" }, { REQUIRE_ADES_PROTECTION: true, REQUIRE_WORKSPACE_API_PROTECTION: true }],
];

test("switches of variant B and what they are derived from", () => {
  for (const [env, expected] of DERIVED) {
    const { variables } = resolve(env).config;
    for (const [name, value] of Object.entries(expected)) {
      assert.equal(variables[name as keyof Variables], value, `${name} with ${JSON.stringify(env)}`);
    }
  }
});

test("option files of the earlier release line name the cloud by the same variables", () => {
  const { config, mistakes } = resolve({
    OS_DOMAINNAME: "cloud_00001",
    OS_USERNAME: "operator@example.org",
    OS_PASSWORD: "secret",
    OS_MEMBERROLEID: "role-1",
    OS_SERVICEPROJECTID: "project-1",
    USER_EMAIL_PATTERN: "eo+<name>@example.org",
  });
  assert.deepEqual(mistakes.map(formatMistake), []);
  const { variables: v } = config;
  assert.deepEqual(
    [v.CLOUD_DOMAINNAME, v.CLOUD_USERNAME, v.CLOUD_MEMBERROLEID, v.CLOUD_SERVICEPROJECTID, v.CLOUD_S3_URL],
    ["cloud_00001", "operator@example.org", "role-1", "project-1", "https://cf2.cloudferro.com:8080"],
  );
  const incomplete = resolve({ OS_DOMAINNAME: "cloud_00001" }).mistakes.map(formatMistake).join("\n");
  assert.match(incomplete, /CLOUD_USERNAME is not set/);
  assert.match(incomplete, /CLOUD_PASSWORD/);
  assert.match(incomplete, /CLOUD_MEMBERROLEID/);
  const without = resolve({ OS_DOMAINNAME: "cloud_XXXXX" });
  assert.deepEqual(without.mistakes.map(formatMistake), []);
  assert.ok(without.warnings.map(formatWarning).some((warning) => warning.includes("names no cloud")));
});

test("the third and fourth argument in either order, and both usages where they make no sense", () => {
  for (const args of [
    { arg3: "203.0.113.7", arg4: "eo.example.org" },
    { arg3: "eo.example.org", arg4: "203.0.113.7" },
  ]) {
    const { domain, publicIp } = resolve({}, args).config;
    assert.deepEqual([domain, publicIp], ["eo.example.org", "203.0.113.7"]);
  }
  const alone = resolve({}, { arg3: "203.0.113.7" }).config;
  assert.deepEqual([alone.domain, alone.publicIp], ["203.0.113.7.nip.io", "203.0.113.7"]);
  assert.ok(resolve({}, { arg3: "203.0.113.7", arg4: "203.0.113.8" }).mistakes.length > 0);
  assert.match(deployUsage, /<domain> \[<public-ip>\]\]\]\] +\(variant A\)/);
  assert.match(deployUsage, /<public-ip> \[<domain>\]\]\]\] +\(variant B\)/);
});

test("hosts and namespaces of variant B", () => {
  const { config } = resolve({ OPEN_INGRESS: "true", REQUIRE_DUMMY_SERVICE: "true" }, { arg3: "eo.example.org" });
  const plan = createPlan(config, components);
  const hosts = new Set(plan.routes.map(({ service }) => service));
  for (const service of ["auth", "portal", "pde", "ades", "ades-open", "workspace-api", "workspace-api-open"]) {
    assert.ok(hosts.has(service), service);
  }
  for (const service of ["identity", "identity-api", "application-hub", "registration-api", "bucket-operator"]) {
    assert.equal(hosts.has(service), false, `${service} has no host in variant B`);
  }
  const namespaceOf = (name: string) => plan.workloads.find((workload) => workload.name === name)?.namespace;
  assert.deepEqual(
    ["identity", "bucket-operator", "workspace-api", "portal", "ades", "application-hub"].map(namespaceOf),
    ["um", "rm", "rm", "demo", "proc", "pde"],
  );
  assert.deepEqual(listMissingComponents(config, components), [], "everything that the switches ask for is there");
});

test("only variant B gives processes the ids of the earlier release line", () => {
  const lineOf = (variant: string) => {
    const { config } = resolve({ PLATFORM_VARIANT: variant });
    return createPlan(config, components).workloads.find(({ name }) => name === "ades")?.env["EARLIER_LINE"];
  };
  assert.deepEqual([lineOf("A"), lineOf("B")], [undefined, "true"]);
});

test("the operator gets the cloud's account, or the platform's object storage, and never both", () => {
  const envOf = (env: Record<string, string>) =>
    createPlan(resolve(env).config, components).workloads.find(({ name }) => name === "bucket-operator")?.env ?? {};
  const own = envOf({});
  assert.ok("OBJSTORE_ADMIN_URL" in own && !("CLOUD_IDENTITY_URL" in own));
  const cloud = envOf({
    OS_DOMAINNAME: "cloud_00001",
    OS_USERNAME: "operator",
    OS_PASSWORD: "secret",
    OS_MEMBERROLEID: "role-1",
  });
  assert.ok("CLOUD_IDENTITY_URL" in cloud && !("OBJSTORE_ADMIN_URL" in cloud));
  assert.equal(typeof cloud["CLOUD_PASSWORD"], "object", "a secret, not a text");
});

test("every service of both variants knows the issuer that the identity service has", () => {
  for (const [PLATFORM_VARIANT, issuer] of [
    ["A", "https://identity.eo.example.org/realms/master"],
    ["B", "https://auth.eo.example.org"],
  ] as const) {
    const { config } = resolve({ PLATFORM_VARIANT }, { arg3: "eo.example.org" });
    const issuers = createPlan(config, components).workloads.flatMap(({ name, env }) =>
      "IDENTITY_ISSUER" in env
        ? [{ name, found: env["IDENTITY_ISSUER"], idTokens: env["ACCEPT_ID_TOKENS"] ?? "false" }]
        : [],
    );
    assert.ok(issuers.length >= 8, "the services that verify tokens");
    for (const { name, found, idTokens } of issuers) {
      assert.equal(found, issuer, `${name} in variant ${PLATFORM_VARIANT}`);
      assert.equal(idTokens, String(PLATFORM_VARIANT === "B"), `${name} in variant ${PLATFORM_VARIANT}`);
    }
  }
});

test("programs of users and their workspaces agree on the names of workspaces", () => {
  for (const PLATFORM_VARIANT of ["A", "B"]) {
    const { workloads } = createPlan(resolve({ PLATFORM_VARIANT }).config, components);
    const envOf = (name: string) => workloads.find((workload) => workload.name === name)?.env ?? {};
    assert.equal(envOf("application-hub")["WORKSPACE_PREFIX"], envOf("workspace-api")["PREFIX_FOR_NAME"]);
  }
});

test("what is accepted for registration is carried out in both variants, with a public API or without", () => {
  for (const [PLATFORM_VARIANT, REQUIRE_REGISTRATION_API, hasHost] of [
    ["A", "", true],
    ["A", "false", false],
    ["B", "", false],
    ["B", "true", true],
  ] as const) {
    const { config, warnings } = resolve({
      PLATFORM_VARIANT,
      REQUIRE_REGISTRATION_API,
      CLOUDDATA_DATA_SPECIFICATION: "true",
    });
    const { workloads, routes } = createPlan(config, components);
    const envOf = (name: string) => workloads.find((workload) => workload.name === name)?.env ?? {};
    assert.equal(
      routes.some(({ service }) => service === "registration-api"),
      hasHost,
    );
    assert.equal(envOf("registrar")["CLOUDDATA"], "true", "the provider's offering is harvested");
    assert.ok("REGISTRATION_URL" in envOf("workspace-api"));
    assert.ok("REGISTRATION_EVENTS_URL" in envOf("objstore"));
    assert.equal(
      warnings.map(formatWarning).some((warning) => warning.includes("REGISTRATION")),
      false,
    );
  }
  const { workloads } = createPlan(resolve({ REQUIRE_RESOURCE_CATALOGUE: "false" }).config, components);
  const envOf = (name: string) => workloads.find((workload) => workload.name === name)?.env ?? {};
  assert.equal("REGISTRATION_URL" in envOf("workspace-api"), false);
  assert.equal(envOf("ades")["REGISTER_RESULTS"], "false", "no job tries what would be refused");
});

test("without a login service nothing is protected, and services have open hosts", () => {
  const { config, mistakes } = resolve({ REQUIRE_LOGIN_SERVICE: "false" });
  assert.deepEqual(mistakes, []);
  const { routes, workloads } = createPlan(config, components);
  assert.deepEqual(
    routes.filter(({ protects }) => protects !== undefined),
    [],
  );
  assert.ok(routes.some(({ service }) => service === "ades-open"));
  assert.equal(
    workloads.some(({ name }) => name === "gatekeeper"),
    false,
  );
  const asked = resolve({ REQUIRE_LOGIN_SERVICE: "false", REQUIRE_ADES_PROTECTION: "true" }).mistakes.map(
    formatMistake,
  );
  assert.match(asked.join("\n"), /REQUIRE_ADES_PROTECTION is true, but there is no identity service/);
});
