import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { POLICY_STREAMS } from "../policy/routes.ts";
import { CLIENTS, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: string;
const BASE = "/admin/realms/master";
before(async () => {
  identity = await startIdentity();
  admin = (await identity.logIn("admin")).access_token;
});
after(() => identity.close());

const get = async (path: string, bearer = admin) => identity.send(`${BASE}${path}`, { bearer });
const send = async (method: string, path: string, json?: unknown, bearer = admin) =>
  identity.send(`${BASE}${path}`, { method, bearer, ...(json !== undefined && { json }) });
const idOf = (response: { headers: Headers }) => (response.headers.get("location") ?? "").split("/").at(-1) ?? "";
const clientId = async (name: string) => (await get(`/clients?clientId=${name}`)).body[0].id as string;

test("a user is created as existing scripts do, and logs in", async () => {
  const made = await send("POST", "/users", {
    username: "Carol",
    enabled: true,
    email: "carol@example.org",
    credentials: [{ type: "password", value: "a password", temporary: false }],
  });
  assert.equal(made.status, 201);
  const again = await send("POST", "/users", { username: "carol", enabled: true });
  assert.equal(again.status, 409);
  assert.match(again.body.errorMessage, /same username/);
  assert.equal((await send("POST", "/users", { username: "carol2", email: "CAROL@example.org" })).status, 409);
  assert.equal(typeof (await identity.logIn("carol", "a password")).access_token, "string");
  assert.equal(typeof (await identity.logIn("carol@example.org", "a password")).access_token, "string");
  const id = idOf(made);
  assert.equal((await get(`/users/${id}`)).body.username, "carol");
  assert.equal(
    (await send("PUT", `/users/${id}/reset-password`, { type: "password", value: "another one", temporary: false }))
      .status,
    204,
  );
  assert.equal((await identity.logIn("carol", "a password")).error, "invalid_grant");
  assert.equal((await send("PUT", `/users/${id}`, { firstName: "Carol", attributes: { team: ["eo"] } })).status, 204);
  assert.deepEqual((await get(`/users/${id}`)).body.attributes, { team: ["eo"] });
  const tokens = await identity.logIn("carol", "another one");
  assert.equal((await send("PUT", `/users/${id}`, { enabled: false })).status, 204);
  const userinfo = await identity.send("/realms/master/protocol/openid-connect/userinfo", {
    bearer: tokens.access_token,
  });
  assert.equal(userinfo.status, 401);
  assert.equal((await send("DELETE", `/users/${id}`)).status, 204);
  assert.equal((await get(`/users/${id}`)).status, 404);
});

test("wrong users are refused with what is allowed", async () => {
  for (const [body, message] of [
    [{}, /User name is missing/],
    [{ username: "a b" }, /without spaces/],
    [{ username: "../x" }, /without/],
    [{ username: "dave", email: "nonsense" }, /not an e-mail/],
    [{ username: "dave", enabled: "yes" }, /true or false/],
    [{ username: "service-account-x" }, /accounts of clients/],
    [[], /JSON object/],
  ] as const) {
    const response = await send("POST", "/users", body);
    assert.equal(response.status, 400, JSON.stringify(body));
    assert.match(response.body.errorMessage, message);
  }
});

test("users are searched and paged", async () => {
  for (let index = 0; index < 12; index += 1) {
    await send("POST", "/users", { username: `page${String(index).padStart(2, "0")}`, enabled: true });
  }
  assert.equal((await get("/users/count?search=page")).body, 12);
  const search = async (text: string) => (await get(`/users/count?search=${encodeURIComponent(text)}`)).body as number;
  // As in Keycloak: quotes mean all of a field, an asterisk any text; what LIKE would take for a pattern is none.
  assert.deepEqual(
    [await search('"page"'), await search("*page*"), await search("zz*page*"), await search("page%")],
    [0, 12, 0, 0],
  );
  assert.deepEqual(
    [await search('"ERIC"'), await search("er*c"), await search("e*"), await search("_ric")],
    [1, 1, 1, 0],
  );
  const page = await get("/users?search=page&first=5&max=3");
  assert.deepEqual(
    page.body.map(({ username }: { username: string }) => username),
    ["page05", "page06", "page07"],
  );
  assert.equal((await get("/users?exact=true&username=page01")).body.length, 1);
  assert.equal((await get("/users?max=x")).status, 400);
});

test("who is no administrator gets 403, who is nobody 401, a token of elsewhere nothing", async () => {
  const eric = (await identity.logIn("eric")).access_token;
  for (const path of ["/users", "/clients", "/events", "/roles", ""]) {
    assert.equal((await get(path, eric)).status, 403, path);
    assert.equal((await identity.send(`${BASE}${path}`)).status, 401, path);
  }
  assert.equal((await identity.send("/admin/realms", { bearer: admin, json: { realm: "other" } })).status, 201);
  const user = await identity.send("/admin/realms/other/users", {
    bearer: admin,
    json: { username: "boss", enabled: true, credentials: [{ type: "password", value: "boss-password" }] },
  });
  assert.equal(user.status, 201);
  const management = (await identity.send("/admin/realms/other/clients?clientId=realm-management", { bearer: admin }))
    .body[0].id;
  const roles = (await identity.send(`/admin/realms/other/clients/${management}/roles`, { bearer: admin })).body;
  const give = (name: string) =>
    identity.send(`/admin/realms/other/users/${idOf(user)}/role-mappings/clients/${management}`, {
      bearer: admin,
      json: roles.filter((role: { name: string }) => role.name === name),
    });
  assert.equal((await give("manage-users")).status, 204);
  const boss = (
    await identity.send("/realms/other/protocol/openid-connect/token", {
      form: { grant_type: "password", client_id: "admin-cli", username: "boss", password: "boss-password" },
    })
  ).body.access_token;
  assert.equal((await identity.send("/admin/realms/other/users", { bearer: boss })).status, 200);
  assert.equal((await identity.send("/admin/realms/other/clients", { bearer: boss })).status, 403);
  assert.equal((await get("/users", boss)).status, 401);
  // Who manages users must not make themselves administrator.
  const escalation = await identity.send(
    `/admin/realms/other/users/${idOf(user)}/role-mappings/clients/${management}`,
    {
      bearer: boss,
      json: roles.filter((role: { name: string }) => role.name === "realm-admin"),
    },
  );
  assert.equal(escalation.status, 403);
  assert.equal((await identity.send("/admin/realms/other", { bearer: admin, method: "DELETE" })).status, 204);
  assert.equal((await identity.send("/realms/other/.well-known/openid-configuration")).status, 404);
});

test("a client with secret and resources is made as create-client makes it", async () => {
  const made = await send("POST", "/clients", {
    clientId: "catalogue",
    name: "Catalogue",
    secret: "sesame",
    publicClient: false,
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    redirectUris: ["*"],
    webOrigins: ["*"],
  });
  assert.equal(made.status, 201);
  const id = idOf(made);
  assert.equal((await send("POST", "/clients", { clientId: "catalogue" })).status, 409);
  assert.deepEqual((await get(`/clients/${id}/client-secret`)).body, { type: "secret", value: "sesame" });
  const server = `/clients/${id}/authz/resource-server`;
  const resources = (await get(`${server}/resource`)).body;
  assert.deepEqual(
    resources.map(({ name, uris }: { name: string; uris: string[] }) => [name, uris]),
    [["Default Resource", ["/*"]]],
  );
  const [standard] = resources;
  assert.equal(
    (await send("PUT", `${server}/resource/${standard._id}`, { ...standard, scopes: [{ name: "view" }] })).status,
    204,
  );
  // Also with a scope nobody is let in by it.
  const set = async () =>
    (await identity.send("/internal/realms/master/clients/catalogue/policy-set", { basic: ["catalogue", "sesame"] }))
      .body;
  assert.deepEqual((await set()).permissions, []);

  const resource = await send("POST", `${server}/resource`, {
    name: "eric",
    uris: ["/eric/*"],
    scopes: [{ name: "view" }],
  });
  assert.equal(resource.status, 201);
  assert.equal((await send("POST", `${server}/resource`, { name: "eric", uris: ["/eric/*"] })).status, 409);
  const policy = await send("POST", `${server}/policy/user`, {
    name: "eric User Policy",
    users: ["eric"],
    logic: "POSITIVE",
  });
  assert.equal(policy.status, 201);
  const permission = await send("POST", `${server}/permission/resource`, {
    name: "eric Permission",
    resources: [resource.body._id],
    policies: [policy.body.id],
  });
  assert.equal(permission.status, 201);
  assert.equal((await get(`${server}/policy/user?name=eric`)).body.length, 1);
  assert.equal(
    (await get(`${server}/policy/${permission.body.id}/associatedPolicies`)).body[0].name,
    "eric User Policy",
  );
  const rules = await set();
  assert.equal(rules.permissions.length, 1);
  assert.equal(rules.policies.find(({ type }: { type: string }) => type === "user").users.length, 1);
  assert.equal((await send("POST", `${server}/policy/user`, { name: "x", users: ["nobody"] })).status, 400);
  assert.equal((await send("POST", `${server}/policy/magic`, { name: "x" })).status, 400);
  assert.equal(
    (await send("POST", `${server}/policy/regex`, { name: "x", targetClaim: "email", pattern: "(" })).status,
    400,
  );
  assert.equal((await send("DELETE", `/clients/${id}`)).status, 204);
  assert.equal(
    (await identity.send("/internal/realms/master/clients/catalogue/policy-set", { basic: ["catalogue", "sesame"] }))
      .status,
    401,
  );
});

test("attributes that are null or empty, as clients in Go and Java send them, are not set", async () => {
  const attributes = {
    "post.logout.redirect.uris": null,
    "backchannel.logout.url": "",
    "client.session.idle.timeout": 600,
    kept: "yes",
  };
  const made = await send("POST", "/clients", { clientId: "go", attributes });
  assert.equal(made.status, 201, made.text);
  const client = (await get(`/clients/${idOf(made)}`)).body;
  assert.deepEqual(client.attributes, { "client.session.idle.timeout": "600", kept: "yes" });
  assert.equal(
    (await send("PUT", `/clients/${client.id}`, { ...client, attributes: { ...client.attributes, kept: null } }))
      .status,
    204,
  );
  assert.deepEqual((await get(`/clients/${client.id}`)).body.attributes, { "client.session.idle.timeout": "600" });
  assert.equal((await send("PUT", `/clients/${client.id}`, { attributes: { kept: { a: 1 } } })).status, 400);
  const scope = await send("POST", "/client-scopes", {
    name: "go",
    attributes: { "consent.screen.text": null, a: "b" },
  });
  assert.deepEqual((await get(`/client-scopes/${idOf(scope)}`)).body.attributes, { a: "b" });
  const user = await send("POST", "/users", { username: "gopher", attributes: { team: null, tags: ["a", null] } });
  assert.deepEqual((await get(`/users/${idOf(user)}`)).body.attributes, { tags: ["a"] });
});

test("rules are given with an ETag, to their own client only", async () => {
  const path = "/internal/realms/master/clients/dummy-service/policy-set";
  const basic = ["dummy-service", SECRET] as const;
  const first = await identity.send(path, { basic });
  assert.equal(first.status, 200);
  const tag = first.headers.get("etag") ?? "";
  assert.equal((await identity.send(path, { basic, headers: { "if-none-match": tag } })).status, 304);
  assert.equal((await identity.send(path, { basic: ["dummy-service", "wrong"] })).status, 401);
  assert.equal((await identity.send(path, { basic: ["hub", SECRET] })).status, 404);
  const server = `/clients/${await clientId("dummy-service")}/authz/resource-server`;
  await send("PUT", server, { decisionStrategy: "AFFIRMATIVE" });
  const changed = await identity.send(path, { basic, headers: { "if-none-match": tag } });
  assert.equal(changed.status, 200);
  assert.equal(changed.body.decisionStrategy, "AFFIRMATIVE");
  assert.equal((await send("PUT", server, { decisionStrategy: "MAYBE" })).status, 400);
});

test("changes are told at once on the event stream", async () => {
  const stop = new AbortController();
  const response = await fetch(`${identity.url}/internal/realms/master/policy-events`, {
    headers: {
      authorization: `Basic ${Buffer.from(`dummy-service:${encodeURIComponent(SECRET)}`).toString("base64")}`,
    },
    signal: stop.signal,
  });
  assert.equal(response.status, 200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  const until = async (text: string) => {
    while (!seen.includes(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
      assert.ok(!done, `the stream ended before ${text}: ${seen}`);
      seen += value;
    }
  };
  await until("event: ready\ndata: {}\n\n");
  await send("PUT", `/clients/${await clientId("dummy-service")}/authz/resource-server`, {
    decisionStrategy: "UNANIMOUS",
  });
  await until('event: policy\ndata: {"clientId":"dummy-service"}');
  const bob = (await get("/users?exact=true&username=bob")).body[0].id as string;
  const tokens = await identity.logIn("bob");
  await send("POST", `/users/${bob}/logout`);
  await until(`event: session\ndata: {"sid":"${tokens.session_state}"}`);
  await send("PUT", `/users/${bob}`, { lastName: "B" });
  await until(`event: user\ndata: {"sub":"${bob}","at":`);
  await send("POST", "/keys/rotate");
  await until("event: keys");
  stop.abort();
});

test("a client has a bounded number of event streams, and gets places back", async () => {
  const open = async (client: string) => {
    const stop = new AbortController();
    const authorization = `Basic ${Buffer.from(`${client}:${encodeURIComponent(SECRET)}`).toString("base64")}`;
    const url = `${identity.url}/internal/realms/master/policy-events`;
    const response = await fetch(url, { headers: { authorization }, signal: stop.signal });
    return { response, stop: () => stop.abort() };
  };
  const streams = await Promise.all(Array.from({ length: POLICY_STREAMS.perUser }, () => open("dummy-service")));
  assert.deepEqual(new Set(streams.map(({ response }) => response.status)), new Set([200]));
  const { response } = await open("dummy-service");
  assert.equal(response.status, 429);
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
  const other = await open("hub");
  assert.equal(other.response.status, 200, "another client has places of its own");
  [...streams, other].forEach(({ stop }) => stop());
  await waitUntil("places are given back", async () => {
    const again = await open("dummy-service");
    again.stop();
    return again.response.status === 200;
  });
});

test("roles and groups reach tokens", async () => {
  assert.equal((await send("POST", "/roles", { name: "scientist" })).status, 201);
  assert.equal((await send("POST", "/roles", { name: "scientist" })).status, 409);
  const role = (await get("/roles/scientist")).body;
  const alice = (await get("/users?exact=true&username=alice")).body[0].id as string;
  assert.equal((await send("POST", `/users/${alice}/role-mappings/realm`, [role])).status, 204);
  const group = await send("POST", "/groups", { name: "projects" });
  const child = await send("POST", `/groups/${idOf(group)}/children`, { name: "forest" });
  assert.equal((await send("PUT", `/users/${alice}/groups/${idOf(child)}`)).status, 204);
  await send("POST", "/roles", { name: "forester" });
  await send("POST", `/groups/${idOf(group)}/role-mappings/realm`, [{ name: "forester" }]);
  const { access_token: token } = await identity.logIn("alice");
  const claims = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
  assert.deepEqual(claims.realm_access.roles, ["forester", "scientist"]);
  assert.deepEqual(claims.groups, ["/projects/forest"]);
  assert.equal((await send("DELETE", `/users/${alice}/role-mappings/realm`, [role])).status, 204);
  assert.deepEqual((await get(`/users/${alice}/role-mappings`)).body.realmMappings, []);
  assert.equal((await get("/groups?search=forest")).body[0].subGroups[0].name, "forest");
});

test("sessions, failed logins and changes are on record", async () => {
  const tokens = await identity.logIn("eric");
  const eric = (await get("/users?exact=true&username=eric")).body[0].id as string;
  const sessions = (await get(`/users/${eric}/sessions`)).body;
  assert.ok(sessions.some(({ id }: { id: string }) => id === tokens.session_state));
  assert.equal((await send("DELETE", `/sessions/${tokens.session_state}`)).status, 204);
  await identity.logIn("eric", "wrong");
  const failures = (await get("/events?type=LOGIN_ERROR")).body;
  assert.equal(failures[0].error, "invalid_user_credentials");
  assert.equal(failures[0].details.username, "eric");
  const changes = (await get("/admin-events?operationTypes=DELETE")).body;
  assert.equal(changes[0].resourceType, "USER_SESSION");
  assert.equal(changes[0].authDetails.username, "admin");
  assert.equal((await get("/events?dateFrom=never")).status, 400);
});

test("too many failures lock the user, an administrator unlocks", async () => {
  await send("PUT", "", { failureFactor: 3 });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    assert.equal((await identity.logIn("bob", "wrong")).error_description, "Invalid user credentials");
  }
  const locked = await identity.logIn("bob");
  assert.equal(locked.error, "invalid_grant");
  assert.match(locked.error_description, /Too many/);
  const bob = (await get("/users?exact=true&username=bob")).body[0].id as string;
  const status = (await get(`/attack-detection/brute-force/users/${bob}`)).body;
  assert.equal(status.disabled, true);
  assert.equal((await send("DELETE", `/attack-detection/brute-force/users/${bob}`)).status, 204);
  assert.equal(typeof (await identity.logIn("bob")).access_token, "string");
  assert.equal((await send("PUT", "", { failureFactor: 0 })).status, 400);
});

test("setting up again changes nothing that people did, and mends what the deployment owns", async () => {
  const eric = (await get("/users?exact=true&username=eric")).body[0].id as string;
  await send("PUT", `/users/${eric}/reset-password`, { type: "password", value: "my own password" });
  const hub = await clientId("hub");
  await send("PUT", `/clients/${hub}`, { redirectUris: ["https://evil.example/*"], description: "by hand" });
  await identity.setUpAgain();
  assert.equal(typeof (await identity.logIn("eric", "my own password")).access_token, "string");
  const after = (await get(`/clients/${hub}`)).body;
  assert.deepEqual(after.redirectUris, CLIENTS.find((client) => client.clientId === "hub")?.redirectUris);
  assert.equal(after.description, "by hand");
  const server = `/clients/${await clientId("dummy-service")}/authz/resource-server`;
  assert.equal((await get(`${server}/resource`)).body.length, 3);
  assert.equal((await get(`${server}/permission`)).body.length, 2);
});
