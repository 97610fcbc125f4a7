import assert from "node:assert/strict";
import { test } from "node:test";

import type { DeployContext, PlatformSettings } from "@swath/manifest";

import { parseHosts } from "./hosts.ts";
import { manifest } from "./manifest.ts";

const secret = { kind: "given", value: "hush" } as const;
function deploy(variables: Record<string, unknown>, { required = true, identity = true, postgres = false } = {}) {
  const context: DeployContext = {
    settings: {
      domain: "example.org",
      variables: {
        IDENTITY_REALM: "master",
        IDENTITY_GATEKEEPER_CLIENT_SECRET: secret,
        IDENTITY_GATEKEEPER_ENCRYPTION_KEY: secret,
        ...variables,
      },
    } as unknown as PlatformSettings,
    isEnabled: (name) => (name === "identity" && identity) || (name === "postgres" && postgres),
    host: (service) => `${service}.example.org`,
    publicUrl: (service) => `https://${service}.example.org`,
    declared: {
      databaseRoles: [],
      routes: [
        { service: "portal", workload: "portal" },
        {
          service: "dummy-service",
          workload: "dummy",
          port: "web",
          wildcard: true,
          protection: { required, clientId: "dummy.client", openPaths: ["^/docs$"] },
        },
      ],
      identityClients: [
        {
          clientId: "dummy.client",
          name: "Dummy",
          secret,
          resources: [{ name: "eric", uris: ["/eric/*"], users: ["eric"] }],
        },
      ],
    },
  };
  return manifest.deploy(context).workloads;
}

test("without a protected route nothing is deployed", () => {
  assert.deepEqual(deploy({}, { required: false }), []);
});

test("protected hosts are told with their service, client, secret and open paths", () => {
  const [workload] = deploy({});
  assert.deepEqual(workload?.env["UPSTREAM_DUMMY_SERVICE"], { peer: "dummy", port: "web" });
  assert.deepEqual(workload?.env["CLIENT_SECRET_DUMMY_CLIENT"], secret);
  assert.equal(workload?.env["IDENTITY_ISSUER"], "https://identity.example.org/realms/master");
  assert.deepEqual(workload?.needs, ["identity"]);
  const json = workload?.env["GATEKEEPER_HOSTS"] as string;
  assert.equal(json.includes("hush"), false);
  const hosts = parseHosts(json, { UPSTREAM_DUMMY_SERVICE: "http://x:1", CLIENT_SECRET_DUMMY_CLIENT: "s" });
  assert.equal(hosts.find("dummy-service.example.org")?.url, "https://dummy-service.example.org");
  assert.equal(hosts.find("a.dummy-service.example.org")?.url, "https://a.dummy-service.example.org");
  assert.equal(hosts.find("xdummy-service.example.org"), undefined);
  assert.equal(hosts.find("portal.example.org"), undefined);
  assert.deepEqual(hosts.all[0]?.resources, []);
  const perWorkspace = JSON.stringify({
    "catalogue.example.org": {
      url: "https://catalogue.example.org",
      upstream: "U",
      clientId: "c",
      secret: "S",
      perWorkspace: true,
    },
  });
  const table = parseHosts(perWorkspace, { U: "http://x:1", S: "s" });
  assert.equal(table.find("catalogue.ws-eric.example.org")?.url, "https://catalogue.ws-eric.example.org");
  assert.equal(table.find("catalogue.a.b.example.org"), undefined);
  assert.equal(table.find("other.ws-eric.example.org"), undefined);
  assert.throws(() => parseHosts(json, {}), /UPSTREAM_DUMMY_SERVICE[^]*CLIENT_SECRET_DUMMY_CLIENT/);
});

test("with another issuer the declared rules go along; with none at all only open paths will pass", () => {
  const [external] = deploy({ IDENTITY_ISSUER_URL: "https://login.example.com" });
  assert.equal(external?.env["IDENTITY_ISSUER"], "https://login.example.com");
  assert.equal(external?.env["IDENTITY_INTERNAL_URL"], undefined);
  assert.equal(external?.env["DATABASE_URL"], undefined);
  const [shared] = deploy({ IDENTITY_ISSUER_URL: "https://login.example.com" }, { postgres: true });
  assert.deepEqual(shared?.env["DATABASE_URL"], { database: "url" });
  assert.equal(
    deploy({}, { postgres: true })[0]?.env["DATABASE_URL"],
    undefined,
    "the identity service tells everybody",
  );
  assert.match(external?.env["GATEKEEPER_HOSTS"] as string, /"resources":\[\{"name":"eric"/);
  const [closed] = deploy({}, { identity: false });
  assert.equal(closed?.env["IDENTITY_ISSUER"], undefined);
});
