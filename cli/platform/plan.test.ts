import assert from "node:assert/strict";
import { test } from "node:test";

import type { Component, Workload } from "@swath/manifest";

import { resolveConfig } from "../config/resolve.ts";
import { components } from "./components.ts";
import { databaseUrl, usesDatabase } from "./plan-database.ts";
import { createPlan } from "./plan.ts";

const settingsOf = (env: Record<string, string>) =>
  resolveConfig({ env, args: { action: "apply" }, facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: false } })
    .config;

const service = (name: string, more: Partial<Workload> = {}): Workload => ({
  name,
  namespace: "test",
  component: name,
  kind: "service",
  env: {},
  ports: [{ name: "http", number: 8080 }],
  resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
  ...more,
});

const protectedComponent: Component = {
  name: "thing",
  title: "Thing",
  namespace: "test",
  enabled: () => true,
  declare: ({ settings: { variables } }) => ({
    routes: [
      {
        service: "thing",
        workload: "thing",
        offersOpenHost: true,
        protection: { required: variables.REQUIRE_ADES_PROTECTION, clientId: "thing" },
      },
    ],
  }),
  deploy: () => ({ workloads: [service("thing")] }),
};

const gatekeeper: Component = {
  name: "gatekeeper",
  title: "Gatekeeper",
  namespace: "um",
  enabled: () => true,
  deploy: ({ declared }) => ({
    workloads: [
      service("gatekeeper", { namespace: "um", env: { HOSTS: declared.routes.map((route) => route.service).join() } }),
    ],
  }),
};

test("the same settings give the same plan", () => {
  const plan = () => JSON.stringify(createPlan(settingsOf({ REQUIRE_DUMMY_SERVICE: "true" }), components));
  assert.equal(plan(), plan());
});

test("a protected host leads through the gatekeeper, and components see what others declared", () => {
  const plan = createPlan(settingsOf({}), [protectedComponent, gatekeeper]);
  assert.deepEqual(
    plan.routes.map(({ host, workload }) => [host, workload]),
    [["thing.swath.localhost", "gatekeeper"]],
  );
  assert.equal(plan.workloads.find(({ name }) => name === "gatekeeper")?.env["HOSTS"], "thing");
});

test("a host that is to be protected is not published without a gatekeeper", () => {
  assert.deepEqual(createPlan(settingsOf({}), [protectedComponent]).routes, []);
});

test("OPEN_INGRESS adds the open host, and takes protection away unless it was asked for", () => {
  const routes = (env: Record<string, string>) =>
    createPlan(settingsOf({ OPEN_INGRESS: "true", ...env }), [protectedComponent, gatekeeper]).routes.map(
      ({ service: name, workload }) => [name, workload],
    );
  assert.deepEqual(routes({}), [
    ["thing", "thing"],
    ["thing-open", "thing"],
  ]);
  assert.deepEqual(routes({ REQUIRE_ADES_PROTECTION: "true" }), [
    ["thing", "gatekeeper"],
    ["thing-open", "thing"],
  ]);
});

test("manifests that contradict each other are refused, every mistake at once", () => {
  const broken: Component = {
    ...protectedComponent,
    name: "broken",
    declare: () => ({ routes: [{ service: "thing", workload: "thing", port: "api" }] }),
    deploy: () => ({
      workloads: [
        service("thing", {
          needs: ["nobody"],
          mounts: [{ volume: "none", path: "/x" }],
          env: { A: { secret: "s", key: "k" }, B: { peer: "nobody" } },
        }),
      ],
    }),
  };
  assert.throws(
    () => createPlan(settingsOf({}), [broken]),
    (error: Error) => {
      for (const part of [
        "needs nobody, which is not deployed",
        "mounts none, which does not exist in test",
        "A refers to secret s key k",
        "B refers to workload nobody",
        "leads to port api of workload thing",
      ]) {
        assert.ok(error.message.includes(part), `${part} in ${error.message}`);
      }
      return true;
    },
  );
});

test("an external database replaces the deployed one", () => {
  const plan = createPlan(
    settingsOf({ DATABASE_URL: "postgres://u:p@db/x", REQUIRE_DUMMY_SERVICE: "true", OPEN_INGRESS: "true" }),
    components,
  );
  assert.equal(plan.database.kind, "external");
  assert.ok(!plan.workloads.some(({ name }) => name === "postgres"));
});

test("every component logs in to the database by a role of its own, once that is made", () => {
  const all = {
    REQUIRE_IDENTITY_SERVICE: "true",
    REQUIRE_ADES: "true",
    REQUIRE_RESOURCE_CATALOGUE: "true",
    REQUIRE_REGISTRY: "true",
  };
  const urls = (env: Record<string, string>) => {
    const plan = createPlan(settingsOf({ ...all, ...env }), components);
    return plan.workloads
      .filter((workload) => usesDatabase(workload))
      .map(({ name, component, needs = [] }) => {
        const entry = databaseUrl(plan.database, component, "host/swath");
        const text =
          entry.kind === "joined" ? entry.parts.map((part) => (typeof part === "string" ? part : "*")) : ["*"];
        return [name, { url: text.join(""), waits: needs.includes("database-roles") }] as const;
      });
  };
  const deployed = new Map(urls({}));
  assert.deepEqual(deployed.get("identity"), { url: "postgresql://swath_identity:*@host/swath", waits: true });
  assert.deepEqual(deployed.get("resource-catalogue"), {
    url: "postgresql://swath_catalogue:*@host/swath",
    waits: true,
  });
  assert.deepEqual(deployed.get("database-roles"), { url: "postgresql://swath:*@host/swath", waits: false });
  assert.equal([...deployed.values()].filter(({ url }) => url.startsWith("postgresql://swath:")).length, 1);

  const external = new Map(urls({ DATABASE_URL: "postgres://me:p%40x@one,two:5433/eo?sslmode=require&user=me" }));
  assert.deepEqual(external.get("registry"), {
    url: "postgres://eo_registry:*@one,two:5433/eo?sslmode=require",
    waits: true,
  });
  const shared = urls({ DATABASE_URL: "postgres://me:p@one/eo", DATABASE_ROLES: "shared" });
  assert.ok(shared.length > 3 && shared.every(([, { url, waits }]) => url === "*" && !waits));
});

test("a component without a schema is not given the database", () => {
  const broken: Component = {
    name: "broken",
    title: "Broken",
    namespace: "test",
    enabled: () => true,
    deploy: () => ({
      workloads: [
        {
          name: "broken",
          namespace: "test",
          component: "broken",
          kind: "service",
          env: { DATABASE_URL: { database: "url" } },
          resources: { requests: { cpu: "0", memory: "0" }, limits: { memory: "0" } },
        },
      ],
    }),
  };
  assert.throws(
    () => createPlan(settingsOf({}), [broken]),
    /broken uses the database, and its component has no databaseSchema/,
  );
});

test("an existing image registry replaces the deployed one: nothing asks for ours, and the portal links to it", () => {
  const env = { REGISTRY_URL: "https://registry.example.org", REQUIRE_WORKSPACE_API: "true", REQUIRE_ADES: "true" };
  const plan = createPlan(settingsOf(env), components);
  assert.ok(plan.workloads.some(({ name }) => name === "workspace-api"));
  assert.equal(
    plan.workloads.some(({ name }) => name === "registry"),
    false,
  );
  assert.equal(
    plan.routes.some(({ workload }) => workload === "registry"),
    false,
  );
  assert.equal(JSON.stringify(plan.workloads).includes('"peer":"registry"'), false);
  const links = plan.configMaps.find(({ name }) => name === "portal");
  assert.equal(links?.data["images_registry_url"], "https://registry.example.org");
});

test("beyond the loopback interface every client and every test user has a secret of its own", () => {
  const { config } = resolveConfig({
    env: { IDENTITY_SERVICE_TEST_USERS: "true" },
    args: { action: "apply", arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: false },
  });
  const plan = createPlan(config, components);
  const bootstrap = plan.workloads.find(({ name }) => name === "identity-bootstrap");
  const names = Object.entries(bootstrap?.env ?? {}).flatMap(([, value]) =>
    typeof value === "object" && "kind" in value ? [value.kind === "generated" ? value.name : "given"] : [],
  );
  assert.ok(names.length >= 6, names.join(" "));
  assert.equal(new Set(names).size, names.length, names.join(" "));
  assert.ok(!names.includes("given"));
  const gatekeeper = plan.workloads.find(({ name }) => name === "gatekeeper");
  assert.deepEqual(
    gatekeeper?.env["CLIENT_SECRET_ADES"],
    plan.identityClients.find(({ clientId }) => clientId === "ades")?.secret,
  );
});

test("without test users nothing of them is deployed", () => {
  const plan = createPlan(settingsOf({ IDENTITY_SERVICE_TEST_USERS: "false" }), components);
  const env = plan.workloads.find(({ name }) => name === "identity-bootstrap")?.env ?? {};
  assert.equal(env["IDENTITY_TEST_USERS"], "");
  assert.ok(!Object.keys(env).some((name) => name.startsWith("TEST_USER_PASSWORD")));
});

test("what users upload is on a domain that no cookie of the platform reaches, where one is named", () => {
  const env = { REQUIRE_OBJSTORE: "true", USER_CONTENT_DOMAIN: "content.test" };
  const { routes, workloads } = createPlan(settingsOf(env), components);
  const hostOf = (service: string) => routes.find((route) => route.service === service)?.host;
  assert.equal(hostOf("objstore"), "objstore.content.test");
  assert.match(hostOf("objstore-console") ?? "", /^objstore-console\..*localhost$/);
  const settings = workloads.find(({ name }) => name === "objstore")?.env;
  assert.match(JSON.stringify(settings?.["PUBLIC_URL"]), /https?:\/\/objstore\.content\.test/);
  assert.match(JSON.stringify(settings?.["CONSOLE_URL"]), /objstore-console\..*localhost/);
});

test("a domain of user content at or below that of the platform is refused: cookies would reach it", () => {
  const resolve = (content: string) =>
    resolveConfig({
      env: { USER_CONTENT_DOMAIN: content },
      args: { action: "apply", clusterName: "swath", arg3: "example.org" },
      facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: false },
    });
  for (const content of ["example.org", "content.example.org"]) {
    assert.match(JSON.stringify(resolve(content).mistakes), /USER_CONTENT_DOMAIN.*cookies of the platform/);
  }
  assert.doesNotMatch(JSON.stringify(resolve("example-content.org").mistakes), /USER_CONTENT_DOMAIN/);
});

test("PostgreSQL's memory: its pod's limit grows with it, and stays as it was where nothing is said", () => {
  const postgresOf = (env: Record<string, string>) =>
    createPlan(settingsOf({ REQUIRE_RESOURCE_CATALOGUE: "true", ...env }), components).workloads.find(
      ({ name }) => name === "postgres",
    );
  const standard = postgresOf({});
  assert.deepEqual([standard?.env["POSTGRES_SHARED_BUFFERS"], standard?.resources.limits.memory], [undefined, "2Gi"]);
  const large = postgresOf({ POSTGRES_SHARED_BUFFERS: "3Gi" });
  assert.deepEqual([large?.env["POSTGRES_SHARED_BUFFERS"], large?.resources.limits.memory], ["3072MB", "5120Mi"]);
  const small = postgresOf({ POSTGRES_SHARED_BUFFERS: "1000" });
  assert.deepEqual([small?.env["POSTGRES_SHARED_BUFFERS"], small?.resources.limits.memory], ["1MB", "2Gi"]);
});
