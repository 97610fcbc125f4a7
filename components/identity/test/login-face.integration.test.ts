import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";

import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

const REGISTER = "/oxauth/restv1/register";
const TOKEN = "/oxauth/restv1/token";
const SCIM = "/identity/restv1/scim/v2";
/** What existing scripts send. */
const REGISTRATION = {
  client_name: "EoepcaClient",
  grant_types: [
    "client_credentials",
    "password",
    "urn:ietf:params:oauth:grant-type:uma-ticket",
    "authorization_code",
    "refresh_token",
    "implicit",
  ],
  redirect_uris: ["https://portal.platform.test/oidc/callback/"],
  post_logout_redirect_uris: ["https://portal.platform.test/"],
  scope: "openid email user_name uma_protection permission is_operator",
  response_types: ["code", "token", "id_token"],
  token_endpoint_auth_method: "client_secret_post",
  subject_type: "public",
  access_token_as_jwt: "true",
};

let identity: TestIdentity;
let admin: string;
before(async () => {
  identity = await startIdentity({ login: true });
  admin = (await identity.logIn("admin")).access_token;
});
after(() => identity.close());

const register = (body: object, bearer?: string) =>
  identity.send(REGISTER, {
    method: "POST",
    ...(bearer !== undefined && { bearer }),
    json: body,
    headers: { "content-type": "application/scim+json" },
  });

async function passwordGrant(client: { client_id: string; client_secret: string }, username: string) {
  return identity.send(TOKEN, {
    form: {
      grant_type: "password",
      scope: "openid user_name is_operator",
      username,
      password: PASSWORD,
      client_id: client.client_id,
      client_secret: client.client_secret,
    },
  });
}

test("discovery documents name the endpoints, and each of those answers", async () => {
  const { body: oidc } = await identity.send("/.well-known/openid-configuration");
  assert.equal(oidc.issuer, identity.url);
  assert.equal(oidc.token_endpoint, `${identity.url}${TOKEN}`);
  assert.equal(oidc.registration_endpoint, `${identity.url}${REGISTER}`);
  const keys = await identity.send(new URL(oidc.jwks_uri).pathname);
  assert.ok(keys.body.keys.length > 0);
  assert.equal((await identity.send(new URL(oidc.userinfo_endpoint).pathname)).status, 401);
  assert.equal((await identity.send(new URL(oidc.authorization_endpoint).pathname)).status, 400);
  const { body: uma } = await identity.send("/.well-known/uma2-configuration");
  assert.equal(uma.permission_endpoint, `${identity.url}/oxauth/restv1/host/rsrc_pr`);
  const { body: scim } = await identity.send("/.well-known/scim-configuration");
  assert.equal(scim[0].user_endpoint, `${identity.url}${SCIM}/Users`);
});

test("a client that an operator registers gets ID tokens with sub, user_name and isOperator by the password grant", async () => {
  const made = await register(REGISTRATION, admin);
  assert.equal(made.status, 201, made.text);
  assert.ok(made.body.client_secret);
  assert.equal(made.body.client_name, "EoepcaClient");
  const eric = await passwordGrant(made.body, "eric");
  assert.equal(eric.status, 200, eric.text);
  const claims = decodeJwt(eric.body.id_token);
  assert.equal(claims["user_name"], "eric");
  assert.equal(claims["isOperator"], false);
  assert.equal(claims.iss, identity.url);
  assert.match(String(claims.sub), /^[0-9a-f-]{36}$/);
  assert.deepEqual(claims.aud, [made.body.client_id, "swath-platform"]);
  const operator = decodeJwt((await passwordGrant(made.body, "admin")).body.id_token);
  assert.equal(operator["isOperator"], true);
  const userinfo = await identity.send("/oxauth/restv1/userinfo", { bearer: eric.body.access_token });
  assert.equal(userinfo.body.user_name, "eric");
  const active = await identity.send("/oxauth/restv1/introspection", {
    form: { token: eric.body.id_token, client_id: made.body.client_id, client_secret: made.body.client_secret },
  });
  assert.equal(active.body.active, true, "an ID token is introspected like an access token");
  const refreshed = await identity.send(TOKEN, {
    form: {
      grant_type: "refresh_token",
      refresh_token: eric.body.refresh_token,
      client_id: made.body.client_id,
      client_secret: made.body.client_secret,
    },
  });
  assert.equal(decodeJwt(refreshed.body.id_token)["user_name"], "eric");
  await identity.send("/oxauth/restv1/revoke", {
    form: {
      token: refreshed.body.refresh_token,
      client_id: made.body.client_id,
      client_secret: made.body.client_secret,
    },
  });
  const ended = await identity.send("/oxauth/restv1/introspection", {
    form: { token: refreshed.body.id_token, client_id: made.body.client_id, client_secret: made.body.client_secret },
  });
  assert.deepEqual(ended.body, { active: false }, "its session has ended");
});

test("registering again with the software_id of an operator's client gives the same client; others get another", async () => {
  const one = await register({ ...REGISTRATION, software_id: "once" }, admin);
  const same = await Promise.all([1, 2, 3].map(() => register({ ...REGISTRATION, software_id: "once" }, admin)));
  assert.equal(one.status, 201);
  for (const { status, body } of same) {
    assert.equal(status, 200);
    assert.deepEqual(body, one.body);
  }
  const stranger = await register({ ...REGISTRATION, software_id: "once" });
  assert.equal(stranger.status, 201);
  assert.notEqual(stranger.body.client_id, one.body.client_id, "a stranger is not given the secret of another client");
});

test("a client that a stranger registers acts for people who agree, and never for itself", async () => {
  const { status, body } = await register(REGISTRATION);
  assert.equal(status, 201);
  assert.equal(body.grant_types.includes("client_credentials"), false);
  const own = await identity.send(TOKEN, {
    form: { grant_type: "client_credentials", client_id: body.client_id, client_secret: body.client_secret },
  });
  assert.equal(own.status, 401);
  assert.equal(own.body.error, "unauthorized_client");
  assert.equal(body.grant_types.includes("password"), false);
  assert.equal(
    (await passwordGrant(body, "eric")).body.error,
    "unauthorized_client",
    "nobody is asked whether they agree",
  );
  const user = (await identity.logIn("eric")).access_token;
  assert.equal((await register(REGISTRATION, user)).status, 403, "not with the token of somebody who may not");
  assert.equal((await register(REGISTRATION, "no.token")).status, 401);
});

test("RFC 7592: a client looks at itself and goes, with its own registration token alone", async () => {
  const [one, other] = [(await register(REGISTRATION)).body, (await register(REGISTRATION)).body];
  const path = new URL(one.registration_client_uri).pathname;
  assert.equal((await identity.send(path, { bearer: one.registration_access_token })).body.client_id, one.client_id);
  assert.equal((await identity.send(path, { bearer: other.registration_access_token })).status, 401);
  const gone = await identity.send(path, { method: "DELETE", bearer: one.registration_access_token });
  assert.equal(gone.status, 204);
  assert.equal((await passwordGrant(one, "eric")).status, 401);
});

for (const [what, body, error] of [
  ["a wildcard", { ...REGISTRATION, redirect_uris: ["*"] }, "invalid_redirect_uri"],
  ["a star at the end", { ...REGISTRATION, redirect_uris: ["https://a.test/*"] }, "invalid_redirect_uri"],
  ["a script", { ...REGISTRATION, redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
  ["a script as logo", { ...REGISTRATION, logo_uri: "javascript:alert(1)" }, "invalid_client_metadata"],
  ["data as terms", { ...REGISTRATION, tos_uri: "data:text/html,x" }, "invalid_client_metadata"],
  ["an unknown grant", { ...REGISTRATION, grant_types: ["magic"] }, "invalid_client_metadata"],
  ["pairwise subjects", { ...REGISTRATION, subject_type: "pairwise" }, "invalid_client_metadata"],
  ["a list", [REGISTRATION], "invalid_client_metadata"],
  [
    "too many addresses",
    { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.test/${n}`) },
    "invalid_client_metadata",
  ],
] as const) {
  test(`registration refuses ${what}`, async () => {
    const response = await register(body);
    assert.equal(response.status, 400, response.text);
    assert.equal(response.body.error, error);
  });
}

test("SCIM: users are made, found, changed and removed, and the new one logs in", async () => {
  const scim = (path: string, method = "GET", json?: unknown) =>
    identity.send(`${SCIM}${path}`, { method, bearer: admin, ...(json !== undefined && { json }) });
  const made = await scim("/Users", "POST", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: "Carol",
    name: { givenName: "Carol", familyName: "Jones" },
    emails: [{ value: "carol@example.org", primary: true }],
    password: "changeme-too",
    "urn:ietf:params:scim:schemas:extension:gluu:2.0:User": { StorageDetails: "s3", apiKey: ["a", "b"] },
  });
  assert.equal(made.status, 201, made.text);
  const { id } = made.body;
  assert.equal(made.headers.get("location"), `${identity.url}${SCIM}/Users/${id}`);
  assert.equal(made.body.password, undefined);
  assert.equal((await identity.logIn("carol", "changeme-too")).token_type, "Bearer");
  assert.equal((await scim("/Users", "POST", { userName: "carol" })).body.scimType, "uniqueness");
  for (const [filter, names] of [
    ['userName eq "CAROL"', ["carol"]],
    ['name.familyName sw "jo" and active eq true', ["carol"]],
    ['emails[value ew "example.org"] or userName eq "bob"', ["bob", "carol"]],
    ['not (userName co "a") and userName pr', ["bob", "eric"]],
    [`id eq "${id}"`, ["carol"]],
    ["userName eq \"x' or '1'='1\"", []],
  ] as const) {
    const { body } = await scim(`/Users?filter=${encodeURIComponent(filter)}`);
    assert.deepEqual(
      body.Resources.map((user: { userName: string }) => user.userName),
      names,
      filter,
    );
    assert.equal(body.totalResults, names.length);
  }
  const page = await scim("/Users?sortBy=userName&sortOrder=descending&startIndex=2&count=2&attributes=userName");
  assert.deepEqual(
    page.body.Resources.map((user: { userName: string }) => user.userName),
    ["carol", "bob"],
  );
  assert.deepEqual(Object.keys(page.body.Resources[0]).toSorted(), ["id", "schemas", "userName"]);
  const patched = await scim(`/Users/${id}`, "PATCH", {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
    Operations: [
      { op: "replace", path: "name.familyName", value: "Smith" },
      { op: "Replace", path: "emails[primary eq true].value", value: "c@example.org" },
      { op: "add", path: "urn:ietf:params:scim:schemas:extension:gluu:2.0:User:apiKey", value: ["c"] },
      { op: "replace", value: { displayName: "Caz" } },
    ],
  });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(patched.body.name.formatted, "Carol Smith");
  assert.equal(patched.body.emails[0].value, "c@example.org");
  assert.equal(patched.body.displayName, "Caz");
  assert.deepEqual(patched.body["urn:ietf:params:scim:schemas:extension:gluu:2.0:User"].apiKey, ["a", "b", "c"]);
  assert.equal(
    (await scim(`/Users/${id}`, "PATCH", { Operations: [{ op: "replace", path: "__proto__.x", value: 1 }] })).status,
    400,
  );
  assert.equal((await scim(`/Users/${id}`, "DELETE")).status, 204);
  assert.equal((await scim(`/Users/${id}`)).status, 404);
});

test("SCIM: groups with members, and several changes in one request", async () => {
  const bulk = await identity.send(`${SCIM}/Bulk`, {
    bearer: admin,
    json: {
      Operations: [
        { method: "POST", path: "/Users", bulkId: "d", data: { userName: "dora" } },
        {
          method: "POST",
          path: "/Groups",
          bulkId: "g",
          data: { displayName: "maps", members: [{ value: "bulkId:d" }] },
        },
        { method: "POST", path: "/Users", data: { userName: "dora" } },
        { method: "DELETE", path: "/Users/bulkId:none" },
      ],
    },
  });
  assert.deepEqual(
    bulk.body.Operations.map(({ status }: { status: string }) => status),
    ["201", "201", "409", "400"],
  );
  const { body } = await identity.send(`${SCIM}/Groups?filter=${encodeURIComponent('displayName eq "maps"')}`, {
    bearer: admin,
  });
  const [group] = body.Resources;
  assert.equal(group.members[0].display, "dora");
  const emptied = await identity.send(`${SCIM}/Groups/${group.id}`, {
    method: "PATCH",
    bearer: admin,
    json: { Operations: [{ op: "remove", path: `members[value eq "${group.members[0].value}"]` }] },
  });
  assert.equal(emptied.body.members, undefined);
});

test("SCIM is for those who may administer users, and says no in its own form", async () => {
  const refused = await identity.send(`${SCIM}/Users`, { bearer: (await identity.logIn("eric")).access_token });
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body.schemas, ["urn:ietf:params:scim:api:messages:2.0:Error"]);
  assert.equal((await identity.send(`${SCIM}/Users`)).status, 401);
  for (const filter of [
    "userName eq",
    '((((userName eq "a")',
    "userName eq 'a'",
    `${"(".repeat(50)}userName pr${")".repeat(50)}`,
    'password eq "x"',
    '"',
    `userName eq "${"x".repeat(3000)}"`,
  ]) {
    const { status, body } = await identity.send(`${SCIM}/Users?filter=${encodeURIComponent(filter)}`, {
      bearer: admin,
    });
    assert.equal(status, 400, filter);
    assert.equal(body.scimType, "invalidFilter");
  }
});
