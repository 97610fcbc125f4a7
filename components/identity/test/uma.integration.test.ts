import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";

import { SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const TOKEN = "/realms/master/protocol/openid-connect/token";

test("UMA: decisions, permissions and RPTs for who may, 403 for who may not", async () => {
  const grant = "urn:ietf:params:oauth:grant-type:uma-ticket";
  const ask = async (user: string, form: Record<string, string>) =>
    identity.ask(TOKEN, {
      bearer: (await identity.logIn(user)).access_token,
      form: { grant_type: grant, audience: "dummy-service", ...form },
    });
  assert.deepEqual((await ask("eric", { permission: "eric#view", response_mode: "decision" })).body, { result: true });
  const refused = await ask("bob", { permission: "eric#view", response_mode: "decision" });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error, "access_denied");
  const list = await ask("bob", { response_mode: "permissions" });
  assert.deepEqual(
    list.body.map(({ rsname, scopes }: { rsname: string; scopes: string[] }) => [rsname, scopes]),
    [["bob", ["view"]]],
  );
  const rpt = await ask("eric", {});
  const claims = decodeJwt(rpt.body.access_token);
  assert.equal((claims["authorization"] as { permissions: { rsname: string }[] }).permissions[0]?.rsname, "eric");
  assert.equal((await ask("eric", { permission: "nothing" })).body.error, "invalid_resource");
  assert.equal((await ask("eric", { permission: "eric#fly" })).body.error, "invalid_scope");
  const byPath = await ask("eric", {
    permission: "/eric/a/b",
    permission_resource_format: "uri",
    response_mode: "decision",
  });
  assert.deepEqual(byPath.body, { result: true });
  assert.equal((await identity.ask(TOKEN, { form: { grant_type: grant, audience: "dummy-service" } })).status, 401);
});

test("the protection API: a resource server keeps its resources and makes tickets (UMA 2.0 Federated Authorization)", async () => {
  const { body } = await identity.ask(TOKEN, {
    basic: ["dummy-service", SECRET],
    form: { grant_type: "client_credentials" },
  });
  const base = "/realms/master/authz/protection";
  const bearer = body.access_token as string;
  const made = await identity.ask(`${base}/resource_set`, {
    bearer,
    json: { name: "maps", uris: ["/maps/*"], resource_scopes: ["view", "edit"] },
  });
  assert.equal(made.status, 201);
  const found = await identity.ask(`${base}/resource_set?uri=/maps/a&matchingUri=true`, { bearer });
  assert.deepEqual(found.body, [made.body._id]);
  const ticket = await identity.ask(`${base}/permission`, {
    bearer,
    json: [{ resource_id: made.body._id, resource_scopes: ["view"] }],
  });
  assert.equal(ticket.status, 201);
  const refused = await identity.ask(TOKEN, {
    bearer: (await identity.logIn("eric")).access_token,
    form: { grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket", ticket: ticket.body.ticket },
  });
  assert.equal(refused.status, 403);
  assert.equal((await identity.ask(`${base}/resource_set/${made.body._id}`, { bearer, method: "DELETE" })).status, 204);
  const asUser = await identity.ask(`${base}/resource_set`, { bearer: (await identity.logIn("eric")).access_token });
  assert.equal(asUser.status, 403);
});
