import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser, Page } from "./browser.ts";
import { alertOf, linkOf, noticeOf, openConsole, submitForm } from "./console-browser.ts";
import { type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: Browser;
before(async () => {
  identity = await startIdentity();
  admin = await openConsole(identity.url, "admin");
});
after(() => identity.close());

const at = (path: string) => `${identity.url}/console/realms/master${path}`;
const submit = (url: string, action: string, form: Record<string, string> = {}) => submitForm(admin, url, action, form);

test("the way in: from / through the login to the users, without the code in the address", async () => {
  const page = await admin.open(`${identity.url}/`);
  assert.equal(page.url, at("/users"));
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("cache-control"), "no-store");
  // With the app's files where they are built, and without any script else; never with script inside the page.
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'|default-src 'self'; script-src 'self';/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|style="/);
  for (const section of ["users", "clients", "roles", "sessions", "events", "settings"]) {
    const { status, text } = await admin.open(at(`/${section}`));
    assert.equal(status, 200, section);
    assert.match(text, /aria-current="page"/);
  }
  // The session of the console itself is one that can be ended.
  assert.match((await admin.open(at("/sessions"))).text, /this browser/);
  assert.equal((await admin.open(`${identity.url}/console/realms/nowhere/users`)).status, 404);
  assert.equal((await admin.open(at("/users/nobody"))).status, 404);
});

test("a user is made, changed, disabled, given a password, a role and a group, and deleted", async () => {
  const made = await submit(at("/users/new"), "create", {
    username: "Dora",
    password: "doras password",
    enabled: "yes",
  });
  assert.equal(noticeOf(made), "It is created.", made.text);
  const user = made.url.split("?", 1)[0] ?? "";
  const id = user.split("/").at(-1) ?? "";
  assert.equal(typeof (await identity.logIn("dora", "doras password")).access_token, "string");

  const again = await submit(at("/users/new"), "create", { username: "dora", email: "dora@example.org" });
  assert.equal(again.status, 409);
  assert.match(alertOf(again) ?? "", /same username/);
  assert.match(again.text, /value="dora@example.org"/);

  assert.equal(noticeOf(await submit(user, "profile", { username: "dora", email: "d@example.org" })), "It is saved.");
  const wrong = await submit(user, "profile", { username: "dora", email: "nonsense" });
  assert.equal(wrong.status, 400);
  assert.match(alertOf(wrong) ?? "", /not an e-mail/);

  const other = await submit(user, "password", { password: "next password", again: "other" });
  assert.match(alertOf(other) ?? "", /not the same/);
  assert.ok(!other.text.includes("next password"));
  const password = { password: "next password", again: "next password" };
  assert.match(noticeOf(await submit(user, "password", password)) ?? "", /password is set/);
  assert.equal((await identity.logIn("dora", "doras password")).error, "invalid_grant");
  assert.equal(typeof (await identity.logIn("dora", "next password")).access_token, "string");

  const made2 = await submit(at("/roles"), "role", { name: "forester", client: "" });
  const role = linkOf(made2, "forester").split("/").at(-1) ?? "";
  assert.equal(noticeOf(await submit(user, "give", { role })), "The role is given.");
  const group =
    linkOf(await submit(at("/roles"), "group", { name: "rangers" }), "/rangers")
      .split("/")
      .at(-1) ?? "";
  assert.equal(noticeOf(await submit(user, "join", { group })), "The user is in the group.");
  const page = await admin.open(user);
  assert.match(page.text, /Take forester from dora/);
  assert.match(page.text, /Take dora out of \/rangers/);
  assert.equal(noticeOf(await submit(user, "take", { role })), "The role is taken away.");
  assert.equal(noticeOf(await submit(user, "leave", { group })), "The user has left the group.");

  assert.match(noticeOf(await submit(user, "logout")) ?? "", /logged out/);
  assert.match(noticeOf(await submit(user, "disable")) ?? "", /disabled/);
  assert.equal((await identity.logIn("dora", "next password")).error, "invalid_grant");
  assert.match(noticeOf(await submit(user, "enable")) ?? "", /enabled/);

  assert.match((await admin.open(`${user}/delete`)).text, /gone for good/);
  const deleted = await submit(`${user}/delete`, "confirm");
  assert.equal(noticeOf(deleted), "It is deleted.");
  assert.equal((await admin.open(user)).status, 404);
  const log = await admin.open(at("/events/changes?type=DELETE"));
  assert.ok(log.text.includes(`users/${id}`), log.text);
  assert.match(log.text, /admin \(security-admin-console\)/);
});

test("a locked out user is unlocked", async () => {
  for (let index = 0; index < 10; index += 1) {
    await identity.logIn("bob", "wrong");
  }
  const user = linkOf(await admin.open(at("/users?search=bob")), "bob");
  assert.match((await admin.open(user)).text, /locked out/);
  assert.equal((await identity.logIn("bob")).error, "invalid_grant");
  assert.equal(noticeOf(await submit(user, "unlock")), "The user may log in again.");
  assert.equal(typeof (await identity.logIn("bob")).access_token, "string");
});

test("many users: searched and paged by the database", async () => {
  await identity.context.pool.query(
    `insert into app_user (realm_id, username)
     select r.id, 'many' || lpad(n::text, 4, '0') from realm r, generate_series(1, 5000) n where r.name = 'master'`,
  );
  const first = await admin.open(at("/users?search=many"));
  assert.match(first.text, /5000 users/);
  assert.match(first.text, /many0050/);
  assert.doesNotMatch(first.text, /many0051/);
  const last = await admin.open(at("/users?search=many&page=100"));
  assert.match(last.text, /many5000/);
  assert.match(last.text, /Page 100 of 100/);
  assert.match((await admin.open(linkOf(first, "Next"))).text, /many0051/);
  await identity.context.pool.query("delete from app_user where username like 'many%'");
});

test("a client with resources, policies and permissions decides who may", async () => {
  const made = await submit(at("/clients/new"), "create", {
    clientId: "maps",
    access: "confidential",
    enabled: "yes",
    authorizationServicesEnabled: "yes",
    redirectUris: "https://maps.platform.test/a\r\n\r\nhttps://maps.platform.test/b",
  });
  assert.equal(noticeOf(made), "It is created.", made.text);
  const client = made.url.split("?", 1)[0] ?? "";
  assert.match(made.text, />\s*https:\/\/maps.platform.test\/a\nhttps:\/\/maps.platform.test\/b<\/textarea>/);
  const secretOf = (page: Page) => /<details>[\s\S]*?<code>([^<]+)</.exec(page.text)?.[1];
  const before = secretOf(made);
  const renewed = await submit(client, "secret");
  assert.notEqual(secretOf(renewed), before);
  assert.ok(!renewed.url.includes(secretOf(renewed) ?? "?"));

  const refused = await submit(at("/clients/new"), "create", { clientId: "two words", description: "keep me" });
  assert.equal(refused.status, 400);
  assert.match(alertOf(refused) ?? "", /without spaces/);
  assert.match(refused.text, /value="keep me"/);

  const protection = `${client}/protection`;
  const bad = await submit(`${protection}/resources/new`, "resource", { name: "forest", uris: "forest" });
  assert.match(alertOf(bad) ?? "", /allowed: paths/);
  const resource = await submit(`${protection}/resources/new`, "resource", {
    name: "forest",
    uris: "/forest/*",
    scopes: "view\nedit",
  });
  assert.equal(noticeOf(resource), "It is created.", resource.text);
  const resourceId = linkOf(resource, "forest").split("/").at(-1) ?? "";
  const nobody = await submit(`${protection}/policies/new?type=user`, "rule", {
    type: "user",
    name: "eric only",
    users: "nobody",
    logic: "POSITIVE",
  });
  assert.match(alertOf(nobody) ?? "", /no user "nobody"/);
  const policy = await submit(`${protection}/policies/new?type=user`, "rule", {
    type: "user",
    name: "eric only",
    users: "eric",
    logic: "POSITIVE",
  });
  const policyId = linkOf(policy, "eric only").split("/").at(-1) ?? "";
  const permission = await submit(`${protection}/permissions/new`, "rule", {
    type: "resource",
    name: "forest permission",
    resources: resourceId,
    policies: policyId,
    decisionStrategy: "AFFIRMATIVE",
  });
  assert.equal(noticeOf(permission), "It is created.", permission.text);

  const send = async (user: string, path: string) =>
    (await admin.open(`${protection}?${new URLSearchParams({ user, path }).toString()}`)).text
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ");
  assert.match(
    await send("eric", "/forest/tree"),
    /granted eric may use \/forest\/tree : the resource forest is granted/,
  );
  assert.match(
    await send("bob", "/forest/tree"),
    /refused bob may not use .* no permission on the resource forest grants/,
  );
  assert.match(await send("nobody", "/forest/tree"), /There is no user nobody/);
  assert.match(await send("eric", "/other"), /refused eric/);
  for (const path of ["forest", "/forest/../x", "//forest", "/forest?x=1"]) {
    assert.match(await send("eric", path), /must begin with a slash/, path);
  }

  // What the console does not show of a policy stays as it is.
  const bearer = (await identity.logIn("admin")).access_token as string;
  const rules = `/admin/realms/master/clients/${client.split("/").at(-1)}/authz/resource-server/policy`;
  const expected = { name: "strict", type: "role", roles: [{ id: "admin", required: true }] };
  const strict = (await identity.send(rules, { bearer, json: expected })).body as {
    id: string;
    roles: { id: string }[];
  };
  const matrix = await admin.open(`${protection}/matrix`);
  assert.match(matrix.text, /aria-label="Why eric may use forest"/);
  const why = await admin.open(linkOfLabel(matrix, "Why bob may not use forest"));
  assert.match(why.text.replaceAll(/\s+/g, " "), /bob may not use forest[^]*<code>\/forest\/\*<\/code>/);
  assert.doesNotMatch((await admin.open(`${protection}/matrix?search=eric`)).text, /Why bob/);
  const saved = await submit(`${protection}/policies/${strict.id}`, "rule", {
    type: "role",
    name: "stricter",
    logic: "POSITIVE",
    roles: strict.roles[0]?.id ?? "",
  });
  assert.equal(noticeOf(saved), "It is saved.", saved.text);
  const kept = (await identity.send(`${rules}/${strict.id}`, { bearer })).body;
  assert.deepEqual([kept.name, kept.roles], ["stricter", strict.roles]);

  for (const page of [`${protection}/policies/${policyId}`, `${protection}/resources/${resourceId}`]) {
    assert.equal((await admin.open(page)).status, 200);
  }
  const moved = await submit(`${protection}/resources/${resourceId}`, "resource", { name: "forest", uris: "/wood/*" });
  assert.equal(noticeOf(moved), "It is saved.");
  assert.match(await send("eric", "/wood/tree"), /granted eric/);
  assert.equal(noticeOf(await submit(`${protection}/policies/${policyId}/delete`, "confirm")), "It is deleted.");
  assert.match(await send("eric", "/wood/tree"), /refused eric/);
  assert.equal(noticeOf(await submit(`${client}/delete`, "confirm")), "It is deleted.");
});

test("roles, groups and their roles", async () => {
  const list = await submit(at("/roles"), "group", { name: "science" });
  const group = linkOf(list, "/science");
  const child = await submit(group, "child", { name: "soil" });
  assert.equal(noticeOf(child), "It is created.");
  assert.match((await submit(group, "rename", { name: "sciences" })).text, /\/sciences\/soil/);
  const role = linkOf(await submit(at("/roles"), "role", { name: "reader", client: "" }), "reader");
  const roleId = role.split("/").at(-1) ?? "";
  assert.match((await submit(group, "give", { role: roleId })).text, /Take reader from \/sciences/);
  assert.match((await submit(role, "save", { name: "readers", description: "They read" })).text, /They read/);
  assert.equal(noticeOf(await submit(`${role}/delete`, "confirm")), "It is deleted.");
  assert.equal(noticeOf(await submit(`${group}/delete`, "confirm")), "It is deleted.");
  const admins = linkOf(await admin.open(at("/roles")), "admin");
  assert.match(alertOf(await submit(`${admins}/delete`, "confirm")) ?? "", /nobody could administer/);
});

test("sessions are ended, events filtered", async () => {
  const tokens = await identity.logIn("alice");
  const page = await admin.open(at("/sessions"));
  const session = JSON.parse(Buffer.from(tokens.access_token.split(".")[1], "base64url").toString()).sid as string;
  assert.ok(page.text.includes(session));
  assert.equal(noticeOf(await submit(at("/sessions"), "end", { session })), "The session has ended.");
  const userinfo = await identity.send("/realms/master/protocol/openid-connect/userinfo", {
    bearer: tokens.access_token,
  });
  assert.equal(userinfo.status, 401);
  assert.match(alertOf(await submit(at("/sessions"), "end", { session })) ?? "", /not found/);

  const today = () => new Date().toISOString().slice(0, 10);
  const from = today();
  await identity.logIn("alice", "wrong");
  const errors = await admin.open(at(`/events?type=LOGIN_ERROR&user=alice&from=${from}&to=${today()}`));
  assert.match(errors.text, /invalid_user_credentials/);
  assert.doesNotMatch(errors.text, /<td>LOGIN<\/td>/);
  assert.match((await admin.open(at("/events?to=2001-01-01"))).text, /None\./);
});

test("realm settings, keys, and a realm of its own", async () => {
  const settings = await submit(`${identity.url}/console/new-realm`, "create", { realm: "forest" });
  assert.equal(settings.url, `${identity.url}/console/realms/forest/settings?done=created`);
  const url = settings.url.split("?", 1)[0] ?? "";
  const values = Object.fromEntries(
    [...settings.text.matchAll(/name="([A-Za-z]+)"\s+type="number"\s+value="(\d+)"/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
  assert.equal(values["accessTokenLifespan"], "900");
  const common = { ...values, enabled: "yes", defaultSignatureAlgorithm: "ES256" };
  const wrong = await submit(url, "settings", { ...common, accessTokenLifespan: "5", displayName: "Kept" });
  assert.match(alertOf(wrong) ?? "", /accessTokenLifespan is 5; allowed/);
  assert.match(wrong.text, /value="Kept"/);
  assert.match(alertOf(await submit(url, "settings", { ...common, accessTokenLifespan: "x" })) ?? "", /whole number/);
  assert.equal(noticeOf(await submit(url, "settings", { ...common, accessTokenLifespan: "60" })), "It is saved.");
  assert.match((await admin.open(url)).text, /value="60"/);
  assert.match(noticeOf(await submit(url, "rotate")) ?? "", /new keys/);
  assert.match((await admin.open(url)).text, /still verifies/);
  assert.equal(
    (await admin.open(`${identity.url}/console/switch?realm=forest`)).url,
    `${identity.url}/console/realms/forest/users`,
  );
  const twice = await submit(`${identity.url}/console/new-realm`, "create", { realm: "forest" });
  assert.match(alertOf(twice) ?? "", /already exists/);
  assert.equal(noticeOf(await submit(`${url}/delete`, "confirm")), "It is deleted.");
});

/** The address that a link of the page has, found by its label. */
function linkOfLabel(page: { readonly text: string; readonly url: string }, label: string): string {
  const href = new RegExp(`href="([^"]+)"\\s+aria-label="${label}"`).exec(page.text)?.[1];
  assert.ok(href, page.text);
  return new URL(href.replaceAll("&amp;", "&"), page.url).href;
}
