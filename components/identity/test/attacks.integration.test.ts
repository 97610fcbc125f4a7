import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const authorize = (more: Record<string, string> = {}) =>
  `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    scope: "openid",
    redirect_uri: "http://127.0.0.1/callback",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    ...more,
  }).toString()}`;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("forged and foreign tokens are refused", async () => {
  const { access_token: token, id_token: idToken, refresh_token: refreshToken } = await identity.logIn("eric");
  const [header = "", payload = "", signature = ""] = (token as string).split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  const admin = encode({ ...claims, preferred_username: "admin", realm_access: { roles: ["admin"] } });
  const certs = (await identity.send("/realms/master/protocol/openid-connect/certs")).body;
  const hs = `${encode({ alg: "HS256", typ: "JWT", kid })}.${admin}`;
  const forged = [
    `${encode({ alg: "none", typ: "JWT", kid })}.${admin}.`,
    `${encode({ alg: "None", typ: "JWT", kid })}.${admin}.${signature}`,
    `${hs}.${createHmac("sha256", JSON.stringify(certs.keys[0])).update(hs).digest("base64url")}`,
    `${hs}.${createHmac("sha256", String(certs.keys[0].n)).update(hs).digest("base64url")}`,
    `${header}.${admin}.${signature}`,
    `${encode({ alg: "RS256", typ: "JWT", kid: "../../etc/passwd" })}.${payload}.${signature}`,
    `${header}.${payload}.`,
    "..",
    idToken,
    refreshToken,
    "x".repeat(9000),
  ];
  for (const bearer of forged) {
    const info = await identity.send("/realms/master/protocol/openid-connect/userinfo", { bearer });
    assert.equal(info.status, 401, bearer.slice(0, 60));
    assert.equal((await identity.send("/admin/realms/master/users", { bearer })).status, 401, bearer.slice(0, 60));
  }
  const good = await identity.send("/realms/master/protocol/openid-connect/userinfo", { bearer: token });
  assert.equal(good.status, 200);
});

test("answers go to registered addresses only", async () => {
  const evil = [
    "https://evil.example/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1/callback/../other",
    "http://portal.platform.test.evil.example/x",
    "http://portal.platform.test@evil.example/x",
    "http://portal.platform.test\\@evil.example/",
    "javascript:alert(1)//http://127.0.0.1/callback",
    "http://127.0.0.1/callback#fragment",
    "//evil.example",
    "",
  ];
  for (const uri of evil) {
    const page = await new Browser().open(authorize({ redirect_uri: uri }));
    assert.equal(new URL(page.url).origin, identity.url, uri);
    assert.equal(page.status, 400, uri);
    assert.match(page.text, /role="alert"/);
  }
  const logout = await new Browser().open(
    `${identity.issuer}/protocol/openid-connect/logout?client_id=portal&post_logout_redirect_uri=https://evil.example/`,
  );
  assert.equal(logout.status, 400);
  // A port of the loopback interface is free to choose; below a wildcard any path is.
  for (const uri of ["http://127.0.0.1:4711/callback", "http://portal.platform.test/deep/path?x=1"]) {
    assert.equal((await new Browser().open(authorize({ redirect_uri: uri }))).status, 200, uri);
  }
});

test("forms without their token, or with one of another session, are refused", async () => {
  const browser = new Browser();
  const login = readPageForm(await browser.open(authorize()));
  const credentials = { username: "eric", password: PASSWORD };
  assert.equal((await browser.open(login.action, { form: credentials })).status, 403);
  const other = new Browser();
  const foreign = readPageForm(await other.open(authorize()));
  assert.equal((await browser.open(login.action, { form: { ...foreign.fields, ...credentials } })).status, 403);
  // Another site makes the victim's browser post the attacker's form: the cookie is not the one of this login.
  assert.equal((await other.open(login.action, { form: { ...login.fields, ...credentials } })).status, 400);

  await browser.open(login.action, { form: { ...login.fields, ...credentials } });
  const account = `${identity.issuer}/account`;
  const page = await browser.open(account);
  assert.match(page.text, /Logged in as <strong>eric<\/strong>/);
  const forged = await browser.open(account, { form: { action: "profile", email: "evil@example.org" } });
  assert.equal(forged.status, 403);
  const logout = await browser.open(`${identity.issuer}/protocol/openid-connect/logout`, { form: { form_token: "x" } });
  assert.match(logout.text, /Log out\?/);
  assert.match((await browser.open(account)).text, /eric/);
});

test("a login gives a new session: a planted cookie is worth nothing", async () => {
  const attacker = new Browser();
  await attacker.open(authorize());
  const planted = new Map(attacker.cookies);
  const victim = new Browser();
  victim.adopt(planted);
  const form = readPageForm(await victim.open(authorize()));
  await victim.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
  const stranger = new Browser();
  stranger.adopt(planted);
  const page = await stranger.open(`${identity.issuer}/account`);
  assert.doesNotMatch(page.text, /Logged in as/);
  const [name = "", value = ""] = [...victim.cookies].find(([cookie]) => cookie.startsWith("swath_login")) ?? [];
  assert.notEqual(value, planted.get(name));
});

test("nobody learns which users exist: the same answer, and the same work", async () => {
  const { hasher } = identity.context;
  const responses: string[] = [];
  for (const username of ["eric", "nobody", "", "admin' or 1=1 --"]) {
    const before = hasher.verifications();
    const response = await identity.send("/realms/master/protocol/openid-connect/token", {
      form: { grant_type: "password", client_id: "admin-cli", username: username || " ", password: "wrong" },
    });
    responses.push(`${response.status} ${response.text}`);
    assert.equal(hasher.verifications() - before, 1, username);
  }
  assert.equal(new Set(responses).size, 1);
  const pages = await Promise.all(
    ["bob", "nobody"].map(async (username) => {
      const browser = new Browser();
      const form = readPageForm(await browser.open(authorize()));
      const page = await browser.open(form.action, { form: { ...form.fields, username, password: "wrong" } });
      return page.text.replaceAll(/value="[^"]*"|action="[^"]*"/g, "");
    }),
  );
  assert.equal(pages[0], pages[1]);
});

test("what people type is shown as text", async () => {
  const browser = new Browser();
  const form = readPageForm(await browser.open(authorize()));
  const page = await browser.open(form.action, {
    form: { ...form.fields, username: '"><script>alert(1)</script>', password: "wrong" },
  });
  assert.doesNotMatch(page.text, /<script>/);
  assert.match(page.text, /&lt;script&gt;/);
  assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  assert.equal(page.headers.get("cache-control"), "no-store");
});

test("a forged Host header changes no address", async () => {
  const response = await identity.send("/realms/master/.well-known/openid-configuration", {
    headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
  });
  assert.equal(response.body.issuer, identity.issuer);
  const page = await new Browser().open(authorize(), { headers: { "x-forwarded-host": "evil.example" } });
  assert.equal(new URL(page.url).origin, identity.url);
});

test("no password and no token is in the log", async () => {
  const secret = "a-password-that-nobody-logs";
  await identity.logIn("eric", secret);
  const tokens = await identity.logIn("eric");
  await identity.send(`/realms/master/protocol/openid-connect/userinfo?access_token=${tokens.access_token}`);
  const log = identity.logged.join("\n");
  assert.ok(log.includes("/protocol/openid-connect/token"));
  for (const hidden of [secret, PASSWORD, tokens.access_token, tokens.refresh_token]) {
    assert.ok(!log.includes(hidden), hidden.slice(0, 20));
  }
});
