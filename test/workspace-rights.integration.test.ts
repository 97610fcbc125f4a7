import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createPeer } from "@swath/service";

import { resolveConfig } from "../cli/config/resolve.ts";
import { components } from "../cli/platform/components.ts";
import { createPlan } from "../cli/platform/plan.ts";
import { CLIENTS, type TestIdentity, startIdentity } from "../components/identity/test/start-identity.ts";
import { IdentityError, createIdentityAdmin } from "../components/workspace-api/clients/identity-admin.ts";
import { createServiceTokens } from "../components/workspace-api/clients/service-token.ts";

// What the workspaces' reconciler may do at the identity service, as the client that the deployment declares for it.
const SECRET = "the reconciler's own";
const CLIENT = "workspace-reconciler";
const FOLDER = { client: "dummy-service", name: "ws-eric", uris: ["/workspaces/ws-eric/*"] } as const;
let identity: TestIdentity;

before(async () => {
  identity = await startIdentity();
  const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: false };
  const { config } = resolveConfig({ env: { REQUIRE_WORKSPACE_API: "true" }, args: { action: "apply" }, facts });
  const declared = createPlan(config, components).identityClients.find(({ clientId }) => clientId === CLIENT);
  assert.ok(declared);
  await identity.setUpAgain([...CLIENTS, { ...declared, secret: SECRET }]);
});
after(() => identity.close());

function act(secrets: readonly string[] = [SECRET]) {
  const peer = createPeer(identity.url);
  const tokens = createServiceTokens({ peer, realm: "master", client: CLIENT, secrets });
  return { tokens, admin: createIdentityAdmin({ peer, realm: "master", tokens }), close: () => peer.close() };
}

async function logInAsAdmin(): Promise<string> {
  const { access_token: token } = (await identity.logIn("admin")) as { access_token: string };
  return token;
}

test("the reconciler finds users and protects the paths of a workspace, also after an administrator ended all sessions", async (t) => {
  const { admin, close } = act();
  t.after(close);
  const eric = await admin.findUser("eric");
  assert.ok(eric);
  assert.deepEqual(await admin.ensureProtection({ ...FOLDER, users: [eric.id] }), []);
  const { status } = await identity.send("/admin/realms/master/logout-all", {
    method: "POST",
    bearer: await logInAsAdmin(),
  });
  assert.equal(status, 200);
  assert.deepEqual(await admin.ensureProtection({ ...FOLDER, users: [eric.id] }), []);
  await admin.removeProtection(FOLDER.client, FOLDER.name);
});

test("it may do nothing else: no passwords, users, roles, clients, settings or events", async (t) => {
  const { admin, tokens, close } = act();
  t.after(close);
  const bearer = await tokens.get();
  const eric = (await admin.findUser("eric"))?.id ?? "";
  const realm = "/admin/realms/master";
  const refused = [
    { path: `${realm}/users/${eric}/reset-password`, method: "PUT", json: { type: "password", value: "taken-over-1" } },
    { path: `${realm}/users/${eric}`, method: "DELETE" },
    { path: `${realm}/users`, json: { username: "new" } },
    { path: `${realm}/users/${eric}/role-mappings/realm`, json: [] },
    { path: `${realm}/clients`, json: { clientId: "new" } },
    { path: `${realm}/roles`, json: { name: "new" } },
    { path: realm, method: "PUT", json: { displayName: "Taken over" } },
    { path: `${realm}/events` },
    { path: `${realm}/logout-all`, method: "POST" },
    { path: "/admin/realms", json: { realm: "another" } },
  ];
  for (const { path, ...request } of refused) {
    const { status, text } = await identity.send(path, { ...request, bearer });
    assert.equal(status, 403, `${request.method ?? "POST or GET"} ${path}: ${text}`);
  }
});

test("a secret that is being changed may be either; a wrong one is refused in words, and locks nobody out", async (t) => {
  const changing = act(["the next", SECRET]);
  t.after(changing.close);
  assert.ok(await changing.admin.findUser("eric"));
  const wrong = act(["wrong"]);
  t.after(wrong.close);
  for (let attempt = 0; attempt < 40; attempt += 1) {
    await assert.rejects(wrong.admin.findUser("eric"), (error) => {
      assert.ok(error instanceof IdentityError);
      assert.match(error.message, /refuses the client workspace-reconciler/);
      return true;
    });
  }
  assert.ok(await logInAsAdmin());
});
