import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: string;
let client: string;
let user: string;
before(async () => {
  identity = await startIdentity();
  admin = (await identity.logIn("admin")).access_token;
  client = (await identity.send("/admin/realms/master/clients?clientId=dummy-service", { bearer: admin })).body[0].id;
  user = (await identity.send("/admin/realms/master/users?username=eric&exact=true", { bearer: admin })).body[0].id;
});
after(() => identity.close());

const OIDC = "/realms/master/protocol/openid-connect";
const ADMIN = "/admin/realms/master";
/** NUL, which PostgreSQL has no place for, and half of a character, which no encoding has one for. */
const NUL = "a\u0000b";
const HALF = "a\ud800b";

/** Fails with every request that was not answered as the client's mistake. */
async function expectRefusals(requests: readonly (readonly [string, () => Promise<{ status: number }>])[]) {
  const wrong: string[] = [];
  for (const [what, send] of requests) {
    const { status } = await send();
    if (status < 400 || status >= 500) {
      wrong.push(`${status} ${what}`);
    }
  }
  assert.deepEqual(wrong, []);
}

test("NUL in a path or query is the client's mistake, without and with a login", async () => {
  const authz = `${ADMIN}/clients/${client}/authz/resource-server`;
  const open = [
    "/realms/%00/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/realms/a%00b",
    `${OIDC}/auth?client_id=a%00b&response_type=code&redirect_uri=http://127.0.0.1/callback`,
    `${OIDC}/auth?client_id=portal&response_type=code&redirect_uri=http://127.0.0.1/%00&state=%00`,
    `${OIDC}/auth/a%00b`,
    `${OIDC}/logout?client_id=a%00b&post_logout_redirect_uri=http://127.0.0.1/`,
    `${OIDC}/logout?id_token_hint=%00`,
    "/realms/master/login-actions/authenticate/a%00b",
    "/realms/master/account?x=%00",
    "/internal/realms/master/clients/a%00b/policy-set",
    "/realms/nowhere/authz/protection/resource_set",
    "/realms/nowhere/authz/protection/resource_set/a",
    "/realms/%00/authz/protection/uma-policy",
    "/realms/nowhere/authz/protection/uma-policy/a",
  ];
  const guarded = [
    `${ADMIN}/users?search=a%00b`,
    `${ADMIN}/users?username=%00`,
    `${ADMIN}/users/count?email=%00`,
    `${ADMIN}/users/a%00b`,
    `${ADMIN}/clients?clientId=a%00b`,
    `${ADMIN}/clients?clientId=a%00b&search=true`,
    `${ADMIN}/roles/a%00b`,
    `${ADMIN}/roles?search=%00`,
    `${ADMIN}/groups?search=%00`,
    `${ADMIN}/events?user=%00`,
    `${ADMIN}/events?type=%00`,
    `${ADMIN}/events?client=%00`,
    `${ADMIN}/admin-events?operationTypes=%00`,
    `${ADMIN}/admin-events?resourcePath=%00`,
    `${ADMIN}/client-session-stats?x=%00`,
    `${authz}/resource?name=%00`,
    `${authz}/resource?uri=%00`,
    `${authz}/resource?type=%00`,
    `${authz}/resource?owner=%00`,
    `${authz}/resource/search?name=%00`,
    `${authz}/policy?name=%00`,
    `${authz}/policy/search?name=%00`,
    `${authz}/permission?name=%00`,
  ];
  await expectRefusals([
    ...open.map((path) => [path, () => identity.send(path)] as const),
    ...guarded.map((path) => [path, () => identity.send(path, { bearer: admin })] as const),
    [`DELETE session`, () => identity.send(`${ADMIN}/sessions/a%00b`, { method: "DELETE", bearer: admin })],
  ]);
});

test("NUL and half characters in a body are the client's mistake", async () => {
  const token = `${OIDC}/token`;
  const authz = `${ADMIN}/clients/${client}/authz/resource-server`;
  const forms: readonly (readonly [string, Record<string, string>])[] = [
    [token, { grant_type: "password", client_id: "admin-cli", username: NUL, password: "x" }],
    [token, { grant_type: "password", client_id: NUL, username: "eric", password: PASSWORD }],
    [token, { grant_type: "authorization_code", client_id: "portal", code: NUL, redirect_uri: "x" }],
    [token, { grant_type: "refresh_token", client_id: "portal", refresh_token: NUL }],
    [token, { grant_type: NUL }],
    [`${OIDC}/revoke`, { client_id: NUL, token: "x" }],
    [`${OIDC}/token/introspect`, { client_id: NUL, token: "x" }],
    [`${OIDC}/logout`, { client_id: NUL, form_token: "x" }],
  ];
  const bodies = (text: string): readonly (readonly [string, string, unknown])[] => [
    ["POST", "/admin/realms", { realm: text }],
    ["POST", "/admin/realms", { realm: "other", displayName: text }],
    ["PUT", ADMIN, { displayName: text }],
    ["POST", `${ADMIN}/users`, { username: text }],
    ["POST", `${ADMIN}/users`, { username: "x1", firstName: text }],
    ["POST", `${ADMIN}/users`, { username: "x2", attributes: { a: [text] } }],
    ["POST", `${ADMIN}/users`, { username: "x3", attributes: { [text]: ["a"] } }],
    ["PUT", `${ADMIN}/users/${user}`, { lastName: text }],
    ["PUT", `${ADMIN}/users/${user}`, { requiredActions: [text] }],
    ["PUT", `${ADMIN}/users/${user}/reset-password`, { type: "password", value: text }],
    ["POST", `${ADMIN}/clients`, { clientId: text }],
    ["POST", `${ADMIN}/clients`, { clientId: "x4", name: text }],
    ["PUT", `${ADMIN}/clients/${client}`, { attributes: { a: text } }],
    ["POST", `${ADMIN}/roles`, { name: text }],
    ["POST", `${ADMIN}/groups`, { name: text }],
    ["POST", `${authz}/resource`, { name: text, uris: ["/x"] }],
    ["POST", `${authz}/resource`, { name: "x5", uris: [`/${text}`] }],
    ["POST", `${authz}/scope`, { name: text }],
    ["POST", `${authz}/policy/user`, { name: text, users: [] }],
    ["POST", `${authz}/policy/regex`, { name: "x6", targetClaim: text, pattern: "a" }],
  ];
  await expectRefusals([
    ...forms.map(([path, form]) => [`${path} ${JSON.stringify(form)}`, () => identity.send(path, { form })] as const),
    ...[NUL, HALF]
      .flatMap(bodies)
      .map(
        ([method, path, json]) =>
          [
            `${method} ${path} ${JSON.stringify(json)}`,
            () => identity.send(path, { method, json, bearer: admin }),
          ] as const,
      ),
    [
      "Basic with NUL",
      () => identity.send(`${OIDC}/token`, { form: { grant_type: "client_credentials" }, basic: [NUL, "x"] }),
    ],
    [
      "Basic of bytes that are no text",
      () =>
        identity.send(`${OIDC}/token`, {
          form: { grant_type: "client_credentials" },
          headers: { authorization: `Basic ${Buffer.from([0xff, 0x00, 0x3a, 0x00]).toString("base64")}` },
        }),
    ],
  ]);
});

test("names that are too long or too deep are the client's mistake", async () => {
  const long = "é".repeat(5000);
  let parent = "";
  const statuses: number[] = [];
  for (let depth = 0; depth < 15; depth += 1) {
    const name = `${depth}`.padEnd(250, "ŵ");
    const made = await identity.send(`${ADMIN}/groups${parent === "" ? "" : `/${parent}/children`}`, {
      json: { name },
      bearer: admin,
    });
    statuses.push(made.status);
    parent = (made.headers.get("location") ?? "").split("/").at(-1) ?? parent;
  }
  assert.ok(
    statuses.every((status) => status < 500),
    statuses.join(" "),
  );
  await expectRefusals([
    ["user", () => identity.send(`${ADMIN}/users`, { json: { username: long }, bearer: admin })],
    ["client", () => identity.send(`${ADMIN}/clients`, { json: { clientId: long }, bearer: admin })],
    ["role", () => identity.send(`${ADMIN}/roles`, { json: { name: long }, bearer: admin })],
    ["page", () => identity.send(`${ADMIN}/users?first=99999999999999`, { bearer: admin })],
    [
      "deep",
      () =>
        identity.send(`${ADMIN}/users`, {
          method: "POST",
          bearer: admin,
          headers: { "content-type": "application/json" },
          json: JSON.parse("[".repeat(3000) + "]".repeat(3000)),
        }),
    ],
  ]);
});

test("NUL typed into a page is answered with a page", async () => {
  const browser = new Browser();
  const authorize = `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    scope: "openid",
    redirect_uri: "http://127.0.0.1/callback",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  }).toString()}`;
  const login = readPageForm(await browser.open(authorize));
  const page = await browser.open(login.action, { form: { ...login.fields, username: NUL, password: "x" } });
  assert.equal(page.status, 400);
  assert.match(page.headers.get("content-type") ?? "", /text\/html/);
});

test("a list of realms shows nothing of realms that are not the caller's", async () => {
  const eric = (await identity.logIn("eric")).access_token;
  const none = await identity.send("/admin/realms", { bearer: eric });
  assert.equal(none.status, 403);
  assert.doesNotMatch(none.text, /master|Lifespan/);
  await identity.send("/admin/realms", { bearer: admin, json: { realm: "lab", enabled: true } });
  const all = await identity.send("/admin/realms", { bearer: admin });
  assert.deepEqual(all.body.map((realm: { realm: string }) => realm.realm).toSorted(), ["lab", "master"]);

  // Who manages users of the realm learns its name, and of its settings nothing.
  const management = (await identity.send(`${ADMIN}/clients?clientId=realm-management`, { bearer: admin })).body[0].id;
  const roles = (await identity.send(`${ADMIN}/clients/${management}/roles`, { bearer: admin })).body as {
    name: string;
  }[];
  const map = (names: readonly string[]) =>
    identity.send(`${ADMIN}/users/${user}/role-mappings/clients/${management}`, {
      bearer: admin,
      json: roles.filter(({ name }) => names.includes(name)),
    });
  assert.equal((await map(["manage-users"])).status, 204);
  const helper = (await identity.logIn("eric")).access_token;
  assert.deepEqual((await identity.send("/admin/realms", { bearer: helper })).body, [{ realm: "master" }]);
  await map(["view-realm"]);
  const viewer = (await identity.logIn("eric")).access_token;
  const shown = (await identity.send("/admin/realms", { bearer: viewer })).body;
  assert.equal(shown.length, 1);
  assert.equal(shown[0].accessTokenLifespan, 900);
});
