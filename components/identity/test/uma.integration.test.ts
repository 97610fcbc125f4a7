import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";

import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const TOKEN = "/realms/master/protocol/openid-connect/token";

test("UMA: decisions, permissions and RPTs for who may, 403 for who may not", async () => {
  const grant = "urn:ietf:params:oauth:grant-type:uma-ticket";
  const send = async (user: string, form: Record<string, string>) =>
    identity.send(TOKEN, {
      bearer: (await identity.logIn(user)).access_token,
      form: { grant_type: grant, audience: "dummy-service", ...form },
    });
  assert.deepEqual((await send("eric", { permission: "eric#view", response_mode: "decision" })).body, { result: true });
  const refused = await send("bob", { permission: "eric#view", response_mode: "decision" });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error, "access_denied");
  const list = await send("bob", { response_mode: "permissions" });
  assert.deepEqual(
    list.body.map(({ rsname, scopes }: { rsname: string; scopes: string[] }) => [rsname, scopes]),
    [["bob", ["view"]]],
  );
  const rpt = await send("eric", {});
  const claims = decodeJwt(rpt.body.access_token);
  assert.equal((claims["authorization"] as { permissions: { rsname: string }[] }).permissions[0]?.rsname, "eric");
  assert.equal((await send("eric", { permission: "nothing" })).body.error, "invalid_resource");
  assert.equal((await send("eric", { permission: "eric#fly" })).body.error, "invalid_scope");
  const byPath = await send("eric", {
    permission: "/eric/a/b",
    permission_resource_format: "uri",
    response_mode: "decision",
  });
  assert.deepEqual(byPath.body, { result: true });
  assert.equal((await identity.send(TOKEN, { form: { grant_type: grant, audience: "dummy-service" } })).status, 401);
  // Names of resources may have blanks; several permissions are several fields.
  await identity.setUpAgain([
    {
      clientId: "spaces",
      name: "Spaces",
      secret: SECRET,
      resources: [
        { name: "Eric space", uris: ["/ericspace/*"], users: ["eric"] },
        { name: "Bob space", uris: ["/bobspace/*"], users: ["bob"] },
      ],
    },
  ]);
  const ask = async (...permissions: readonly string[]) => {
    const { access_token: bearer } = await identity.logIn("eric");
    const form = new URLSearchParams({ grant_type: grant, audience: "spaces", response_mode: "decision" });
    permissions.forEach((permission) => form.append("permission", permission));
    const response = await fetch(`${identity.url}${TOKEN}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}` },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  assert.deepEqual((await ask("Eric space#view")).body, { result: true });
  assert.equal((await ask("Eric space", "Bob space")).status, 403);
  assert.equal((await ask("Eric space", "Anna space")).body["error"], "invalid_resource");
  assert.equal((await ask(...Array.from({ length: 101 }, () => "Eric space"))).body["error"], "invalid_request");
});

test("the protection API: a resource server keeps its resources and makes tickets (UMA 2.0 Federated Authorization)", async () => {
  const { body } = await identity.send(TOKEN, {
    basic: ["dummy-service", SECRET],
    form: { grant_type: "client_credentials" },
  });
  const base = "/realms/master/authz/protection";
  const bearer = body.access_token as string;
  const made = await identity.send(`${base}/resource_set`, {
    bearer,
    json: { name: "maps", uris: ["/maps/*"], resource_scopes: ["view", "edit"] },
  });
  assert.equal(made.status, 201);
  const found = await identity.send(`${base}/resource_set?uri=/maps/a&matchingUri=true`, { bearer });
  assert.deepEqual(found.body, [made.body._id]);
  const ticket = await identity.send(`${base}/permission`, {
    bearer,
    json: [{ resource_id: made.body._id, resource_scopes: ["view"] }],
  });
  assert.equal(ticket.status, 201);
  const refused = await identity.send(TOKEN, {
    bearer: (await identity.logIn("eric")).access_token,
    form: { grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket", ticket: ticket.body.ticket },
  });
  assert.equal(refused.status, 403);
  assert.equal(
    (await identity.send(`${base}/resource_set/${made.body._id}`, { bearer, method: "DELETE" })).status,
    204,
  );
  const asUser = await identity.send(`${base}/resource_set`, { bearer: (await identity.logIn("eric")).access_token });
  assert.equal(asUser.status, 403);
});

test("owners share their resources with others, by scope, and take it back (policy_endpoint)", async () => {
  const protection = "/realms/master/authz/protection";
  const { body: uma } = await identity.send("/realms/master/.well-known/uma2-configuration", {});
  assert.equal(uma.policy_endpoint, `${identity.issuer}/authz/protection/uma-policy`);
  const server = await identity.send(TOKEN, {
    basic: ["dummy-service", SECRET],
    form: { grant_type: "client_credentials" },
  });
  /** A login at the resource server itself, as its pages have it. */
  const logIn = async (username: string) => {
    const { body } = await identity.send(TOKEN, {
      basic: ["dummy-service", SECRET],
      form: { grant_type: "password", username, password: PASSWORD },
    });
    assert.equal(typeof body.access_token, "string", JSON.stringify(body));
    return body.access_token as string;
  };
  const [eric, bob] = [await logIn("eric"), await logIn("bob")];
  const makeResource = async (name: string, more: object) => {
    const { body } = await identity.send(`${protection}/resource_set`, {
      bearer: server.body.access_token,
      json: { name, uris: [`/${name}/*`], owner: decodeJwt(eric).sub, ownerManagedAccess: true, ...more },
    });
    return body._id as string;
  };
  const album = await makeResource("album", { resource_scopes: ["view", "edit"] });
  const fixed = await makeResource("fixed", { resource_scopes: ["view"], ownerManagedAccess: false });
  const bare = await makeResource("bare", {});
  const send = (path: string, bearer: string, json?: unknown, method?: string) =>
    identity.send(`${protection}/uma-policy${path}`, {
      bearer,
      ...(json !== undefined && { json }),
      ...(method !== undefined && { method }),
    });
  const may = async (user: string, permission: string) => {
    const { status } = await identity.send(TOKEN, {
      bearer: user,
      form: {
        grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
        audience: "dummy-service",
        permission,
        response_mode: "decision",
      },
    });
    return status === 200;
  };
  assert.equal(await may(eric, `${album}#edit`), true, "the owner needs no policy");
  assert.equal(await may(bob, `${album}#view`), false);

  const made = await send(`/${album}`, eric, { name: "friends", scopes: ["view"], users: ["bob"] });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.users, ["bob"]);
  assert.equal(made.body.type, "uma");
  assert.equal(await may(bob, `${album}#view`), true);
  assert.equal(await may(bob, `${album}#edit`), false);

  const changed = await send(`/${made.body.id}`, eric, { name: "friends", scopes: ["view", "edit"] }, "PUT");
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(changed.body.users, ["bob"], "what is left out stays");
  assert.equal(await may(bob, `${album}#edit`), true);
  assert.deepEqual(
    (await send(`?resource=${album}&scope=edit`, eric)).body.map(({ name }: { name: string }) => name),
    ["friends"],
  );

  // Nobody else sees, changes or adds any; a name is free for each owner.
  assert.deepEqual((await send("", bob)).body, []);
  assert.equal((await send(`/${made.body.id}`, bob)).status, 404);
  assert.equal((await send(`/${made.body.id}`, bob, { users: ["bob"] }, "PUT")).status, 404);
  assert.equal((await send(`/${made.body.id}`, bob, undefined, "DELETE")).status, 404);
  assert.equal((await send(`/${album}`, bob, { name: "mine", users: ["bob"] })).status, 403);
  assert.equal((await send(`/${album}`, (await identity.logIn("eric")).access_token, { name: "x" })).status, 403);
  assert.equal((await send("", "no-token")).status, 401);
  const refusals: readonly (readonly [string, unknown, RegExp])[] = [
    [album, { name: "friends", users: ["bob"] }, /exists/],
    [album, { name: "a", users: ["nobody"] }, /there is no user "nobody"/],
    [album, { name: "b", users: ["bob"], scopes: ["delete"] }, /scopes has "delete"; of album: edit, view/],
    [album, { name: "c" }, /nobody is named/],
    [album, { name: "d", users: ["bob"], logic: "NEGATIVE" }, /POSITIVE/],
    [album, { name: "e", users: ["bob"], condition: "true" }, /condition is not supported/],
    [fixed, { name: "f", users: ["bob"] }, /needs ownerManagedAccess/],
    [bare, { name: "g", users: ["bob"] }, /at least one scope/],
    ["nothing", { name: "h", users: ["bob"] }, /there is no resource "nothing"/],
  ];
  for (const [resource, json, reason] of refusals) {
    const { status, body } = await send(`/${resource}`, eric, json);
    assert.ok(status === 400 || status === 409, String(status));
    assert.match(body.errorMessage, reason);
  }

  // Nothing remains in force when the resource is no longer managed by its owner, or belongs to somebody else.
  const settings = { name: "album", uris: ["/album/*"], resource_scopes: ["view", "edit"] };
  const change = (more: object) =>
    identity.send(`${protection}/resource_set/${album}`, {
      bearer: server.body.access_token,
      method: "PUT",
      json: { ...settings, ...more },
    });
  assert.equal((await change({ ownerManagedAccess: false })).status, 204);
  assert.equal(await may(bob, `${album}#view`), false);
  assert.equal((await change({ ownerManagedAccess: true })).status, 204);
  assert.equal(await may(bob, `${album}#view`), true);
  assert.equal((await send(`/${made.body.id}`, eric, undefined, "DELETE")).status, 204);
  assert.equal(await may(bob, `${album}#view`), false);
});

test("what a user shared goes with the user", async () => {
  const protection = "/realms/master/authz/protection";
  const admin = (await identity.logIn("admin")).access_token;
  const created = await identity.send("/admin/realms/master/users", {
    bearer: admin,
    json: { username: "gone", enabled: true, credentials: [{ type: "password", value: PASSWORD }] },
  });
  const owner = created.headers.get("location")?.split("/").at(-1) ?? "";
  const basic: [string, string] = ["dummy-service", SECRET];
  const server = await identity.send(TOKEN, { basic, form: { grant_type: "client_credentials" } });
  const { body: resource } = await identity.send(`${protection}/resource_set`, {
    bearer: server.body.access_token,
    json: { name: "left", uris: ["/left/*"], resource_scopes: ["view"], owner, ownerManagedAccess: true },
  });
  const logIn = async (username: string) =>
    (await identity.send(TOKEN, { basic, form: { grant_type: "password", username, password: PASSWORD } })).body
      .access_token as string;
  const shared = await identity.send(`${protection}/uma-policy/${resource._id}`, {
    bearer: await logIn("gone"),
    json: { name: "all", users: ["bob"] },
  });
  assert.equal(shared.status, 201, shared.text);
  const bob = await logIn("bob");
  const may = () =>
    identity.send(TOKEN, {
      bearer: bob,
      form: {
        grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
        audience: "dummy-service",
        permission: `${resource._id}#view`,
      },
    });
  assert.equal((await may()).status, 200);
  const gone = await identity.send(`/admin/realms/master/users/${owner}`, { bearer: admin, method: "DELETE" });
  assert.equal(gone.status, 204);
  assert.equal((await may()).status, 403);
});
