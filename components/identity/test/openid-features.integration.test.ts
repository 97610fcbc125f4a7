import assert from "node:assert/strict";
import { createSecretKey, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import { SignJWT, decodeJwt, exportJWK, generateKeyPair } from "jose";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: string;
before(async () => {
  identity = await startIdentity();
  admin = (await identity.logIn("admin")).access_token;
});
after(() => identity.close());

const OIDC = "/realms/master/protocol/openid-connect";
const ADMIN = "/admin/realms/master";
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const request = (more: Record<string, string> = {}) => ({
  client_id: "portal",
  response_type: "code",
  scope: "openid",
  redirect_uri: "http://127.0.0.1/callback",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  ...more,
});
const clientOf = async (clientId: string) =>
  (await identity.send(`${ADMIN}/clients?clientId=${clientId}`, { bearer: admin })).body[0];

/** Logs eric in on the page that a browser is at, and gives the address that it is sent back to. */
async function logIn(browser: Browser, page: Awaited<ReturnType<Browser["open"]>>): Promise<URL> {
  const form = readPageForm(page);
  const end = await browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
  return new URL(end.url);
}

test("the authorization endpoint takes a POST like a GET (OpenID Connect Core §3.1.2.1)", async () => {
  const browser = new Browser();
  const page = await browser.open(`${identity.issuer}/protocol/openid-connect/auth`, { form: request({ state: "s" }) });
  assert.equal(page.status, 200);
  const back = await logIn(browser, page);
  assert.equal(back.searchParams.get("state"), "s");
  const tokens = await identity.send(`${OIDC}/token`, {
    form: {
      grant_type: "authorization_code",
      client_id: "portal",
      code: back.searchParams.get("code") ?? "",
      redirect_uri: "http://127.0.0.1/callback",
      code_verifier: VERIFIER,
    },
  });
  assert.equal(tokens.status, 200);
  const twice = await identity.send(`${OIDC}/auth`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    form: { ...request() },
  });
  assert.ok([302, 303].includes(twice.status));
});

test("a request that was pushed is good once, for the client that pushed it (RFC 9126)", async () => {
  const pushed = await identity.send(`${OIDC}/ext/par/request`, { form: request({ state: "pushed" }) });
  assert.equal(pushed.status, 201);
  assert.ok(pushed.body.expires_in > 0);
  const authorize = (clientId: string) =>
    `${identity.url}${OIDC}/auth?${new URLSearchParams({ client_id: clientId, request_uri: pushed.body.request_uri }).toString()}`;
  const browser = new Browser();
  const page = await browser.open(authorize("portal"));
  assert.equal((await logIn(browser, page)).searchParams.get("state"), "pushed");
  assert.equal((await new Browser().open(authorize("portal"))).status, 400);
  const other = await identity.send(`${OIDC}/ext/par/request`, { form: request() });
  const stolen = `${identity.url}${OIDC}/auth?client_id=hub&request_uri=${encodeURIComponent(other.body.request_uri)}`;
  assert.equal((await new Browser().open(stolen)).status, 400);
  const secretless = await identity.send(`${OIDC}/ext/par/request`, { form: request({ client_id: "hub" }) });
  assert.equal(secretless.status, 401);
  const nested = await identity.send(`${OIDC}/ext/par/request`, { form: request({ request_uri: "urn:x" }) });
  assert.equal(nested.status, 400);
});

test("clients sign for themselves: private_key_jwt and client_secret_jwt, each assertion once (RFC 7523)", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" };
  await identity.send(`${ADMIN}/clients`, {
    bearer: admin,
    json: {
      clientId: "signer",
      serviceAccountsEnabled: true,
      attributes: { "jwks.string": JSON.stringify({ keys: [jwk] }) },
    },
  });
  const token = (assertion: string, more: Record<string, string> = {}) =>
    identity.send(`${OIDC}/token`, {
      form: {
        grant_type: "client_credentials",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
        ...more,
      },
    });
  const sign = (
    id: string,
    {
      aud = identity.issuer,
      seconds = 60,
      jti = randomUUID(),
      alg = "ES256",
      key = privateKey as Parameters<SignJWT["sign"]>[0],
    } = {},
  ) =>
    new SignJWT({ jti })
      .setProtectedHeader({ alg, ...(alg === "ES256" && { kid: "k" }) })
      .setIssuer(id)
      .setSubject(id)
      .setAudience(aud)
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(key);
  const good = await sign("signer");
  assert.equal((await token(good)).status, 200);
  assert.equal((await token(good)).status, 401, "once");
  const secret = createSecretKey(Buffer.from((await clientOf("signer")).secret as string));
  for (const [why, wrong] of [
    ["another audience", await sign("signer", { aud: "https://elsewhere.example" })],
    ["too long", await sign("signer", { seconds: 86_400 })],
    ["over", await sign("signer", { seconds: -60 })],
    ["another client", await sign("portal")],
    ["another key", await sign("signer", { key: (await generateKeyPair("ES256")).privateKey })],
    ["its secret where it has keys", await sign("signer", { alg: "HS256", key: secret })],
    ["no token", "a.b.c"],
  ] as const) {
    assert.equal((await token(wrong)).status, 401, why);
  }
  assert.equal((await token(await sign("signer"), { client_id: "hub" })).status, 401);
  assert.equal((await token(await sign("signer"), { client_secret: "x" })).status, 400);
  const hmac = createSecretKey(Buffer.from(SECRET));
  assert.equal((await token(await sign("dummy-service", { alg: "HS256", key: hmac }))).status, 200);
  const wrong = createSecretKey(Buffer.from("another secret that is long enough"));
  assert.equal((await token(await sign("dummy-service", { alg: "HS256", key: wrong }))).status, 401);
});

test("discovery names what there is, and nothing that does not work", async () => {
  const { body } = await identity.send("/realms/master/.well-known/openid-configuration");
  assert.equal(body.check_session_iframe, undefined);
  assert.match(body.pushed_authorization_request_endpoint, /ext\/par\/request$/);
  assert.ok(body.token_endpoint_auth_methods_supported.includes("private_key_jwt"));
  assert.ok(body.scopes_supported.includes("phone"));
});

test("tokens have one spelling: base64url with stray characters or bits is refused (RFC 7515 §2)", async () => {
  const { access_token: token, refresh_token: refresh } = await identity.logIn("eric");
  const status = async (bearer: string) => (await identity.send(`${OIDC}/userinfo`, { bearer })).status;
  assert.equal(await status(token), 200);
  const [header = "", payload = "", signature = ""] = token.split(".");
  const last = signature.at(-1) ?? "";
  const twin = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // 256 bytes end in a character of which two bits count for nothing.
  const sloppy = `${signature.slice(0, -1)}${twin[twin.indexOf(last) + 1] ?? "B"}`;
  for (const other of [
    sloppy,
    `${signature}=`,
    `${signature}==`,
    `${signature.slice(0, 40)}\n${signature.slice(40)}`,
  ]) {
    assert.equal(await status(`${header}.${payload}.${other}`).catch(() => 401), 401, other.slice(-5));
  }
  const form = (text: string) => ({ grant_type: "refresh_token", client_id: "admin-cli", refresh_token: text });
  assert.equal((await identity.send(`${OIDC}/token`, { form: form(`${refresh}=`) })).status, 400);
  assert.equal((await identity.send(`${OIDC}/token`, { form: form(refresh) })).status, 200);
});

test("at logout a client_id must be the one of the hint (RP-Initiated Logout §2)", async () => {
  const { id_token: hint } = await identity.logIn("eric", undefined, { client_id: "portal" });
  const logout = (clientId: string) =>
    identity.send(
      `${OIDC}/logout?${new URLSearchParams({ id_token_hint: hint, client_id: clientId, post_logout_redirect_uri: "http://127.0.0.1/callback" }).toString()}`,
    );
  assert.equal((await logout("hub")).status, 400);
  const fits = await logout("portal");
  assert.equal(fits.status, 302);
  assert.match(fits.headers.get("location") ?? "", /^http:\/\/127\.0\.0\.1\/callback/);
});

test("a permission ticket is good once (UMA 2.0 Grant §3.3.1)", async () => {
  const { body } = await identity.send(`${OIDC}/token`, {
    basic: ["dummy-service", SECRET],
    form: { grant_type: "client_credentials" },
  });
  const made = await identity.send("/realms/master/authz/protection/permission", {
    bearer: body.access_token,
    json: [{ resource_id: "eric" }],
  });
  assert.equal(made.status, 201);
  const bearer = (await identity.logIn("eric")).access_token;
  const form = { grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket", ticket: made.body.ticket };
  assert.equal((await identity.send(`${OIDC}/token`, { bearer, form })).status, 200);
  const again = await identity.send(`${OIDC}/token`, { bearer, form });
  assert.equal(again.status, 400);
  assert.equal(again.body.error, "invalid_ticket");
});

test("claims are those of the granted scopes, exactly (OpenID Connect Core §5.4)", async () => {
  const eric = (await identity.send(`${ADMIN}/users?username=eric&exact=true`, { bearer: admin })).body[0].id;
  await identity.send(`${ADMIN}/users/${eric}`, {
    method: "PUT",
    bearer: admin,
    json: {
      email: "eric@example.org",
      firstName: "Eric",
      lastName: "Example",
      attributes: { phoneNumber: ["+49 1"], street: ["A street 1"], locality: ["A town"] },
    },
  });
  await identity.send(`${ADMIN}/clients`, {
    bearer: admin,
    json: {
      clientId: "exact",
      publicClient: true,
      defaultClientScopes: ["roles"],
      optionalClientScopes: ["profile", "email", "phone", "address"],
    },
  });
  const claimsOf = async (scope: string) => {
    const tokens = await identity.logIn("eric", undefined, { client_id: "exact", scope });
    const info = (await identity.send(`${OIDC}/userinfo`, { bearer: tokens.access_token })).body as object;
    const id = Object.keys(decodeJwt(tokens.id_token));
    const protocol = ["exp", "iat", "auth_time", "jti", "iss", "aud", "sub", "typ", "azp", "sid", "session_state"];
    const shown = Object.keys(info).filter((name) => name !== "sub");
    assert.deepEqual(
      id.filter((name) => !protocol.includes(name)).toSorted(),
      shown.toSorted(),
      `the ID token and userinfo agree for ${scope}`,
    );
    assert.equal(tokens.scope, scope);
    return shown.toSorted();
  };
  assert.deepEqual(await claimsOf("openid"), []);
  assert.deepEqual(await claimsOf("openid email"), ["email", "email_verified"]);
  assert.deepEqual(await claimsOf("openid profile"), ["family_name", "given_name", "name", "preferred_username"]);
  assert.deepEqual(await claimsOf("openid phone"), ["phone_number"]);
  assert.deepEqual(await claimsOf("openid address"), ["address"]);
});
