import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import * as client from "openid-client";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const discover = (clientId: string, secret?: string) =>
  client.discovery(
    new URL(identity.issuer),
    clientId,
    undefined,
    secret === undefined ? client.None() : client.ClientSecretBasic(secret),
    { execute: [client.allowInsecureRequests] },
  );
const TOKEN = "/realms/master/protocol/openid-connect/token";

/** Authorization code with PKCE in a browser, as eric. */
async function logInByBrowser(
  configuration: client.Configuration,
  browser: Browser,
  more: Record<string, string> = {},
): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: "http://127.0.0.1:9999/callback",
    scope: "openid profile email",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...more,
  });
  let page = await browser.open(url.href);
  if (page.status === 200) {
    const { action, fields } = readPageForm(page);
    page = await browser.open(action, { form: { ...fields, username: "eric", password: PASSWORD } });
  }
  return client.authorizationCodeGrant(configuration, new URL(page.url), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  });
}

test("discovery names every endpoint below the issuer (OIDC Discovery §3, RFC 8414 §2)", async () => {
  const configuration = await discover("portal");
  const metadata = configuration.serverMetadata();
  assert.equal(metadata.issuer, identity.issuer);
  const base = `${identity.issuer}/protocol/openid-connect`;
  assert.equal(metadata.token_endpoint, `${base}/token`);
  assert.equal(metadata.authorization_endpoint, `${base}/auth`);
  assert.equal(metadata.userinfo_endpoint, `${base}/userinfo`);
  assert.equal(metadata.jwks_uri, `${base}/certs`);
  assert.equal(metadata.end_session_endpoint, `${base}/logout`);
  assert.equal(metadata.introspection_endpoint, `${base}/token/introspect`);
  assert.equal(metadata.revocation_endpoint, `${base}/revoke`);
  const rfc8414 = await identity.send("/.well-known/oauth-authorization-server/realms/master");
  assert.equal(rfc8414.body.issuer, identity.issuer);
  assert.equal((await identity.send("/realms/nowhere/.well-known/openid-configuration")).status, 404);
});

test("password grant: the specification's form fields, claims that services use (RFC 6749 §4.3)", async () => {
  const response = await identity.send(TOKEN, {
    form: {
      scope: "openid profile email",
      grant_type: "password",
      username: "eric",
      password: PASSWORD,
      client_id: "admin-cli",
    },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.deepEqual(Object.keys(response.body).toSorted(), [
    "access_token",
    "expires_in",
    "id_token",
    "not-before-policy",
    "refresh_expires_in",
    "refresh_token",
    "scope",
    "session_state",
    "token_type",
  ]);
  const keys = createRemoteJWKSet(new URL(`${identity.issuer}/protocol/openid-connect/certs`));
  const { payload } = await jwtVerify(response.body.access_token, keys, {
    issuer: identity.issuer,
    audience: "account",
  });
  assert.equal(payload["preferred_username"], "eric");
  assert.equal(payload["azp"], "admin-cli");
  assert.equal(payload["typ"], "Bearer");
  assert.match(String(payload.sub), /^[0-9a-f-]{36}$/);
  assert.deepEqual(payload["realm_access"], { roles: [] });
  const { payload: id } = await jwtVerify(response.body.id_token, keys, { audience: "admin-cli" });
  assert.equal(id.sub, payload.sub);
});

test("authorization code with PKCE, userinfo, refresh, logout (RFC 6749 §4.1, RFC 7636)", async () => {
  const configuration = await discover("portal");
  const browser = new Browser();
  const tokens = await logInByBrowser(configuration, browser);
  const sub = decodeJwt(tokens.access_token).sub ?? "";
  const info = await client.fetchUserInfo(configuration, tokens.access_token, sub);
  assert.equal(info.preferred_username, "eric");
  const refreshed = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
  assert.equal(decodeJwt(refreshed.access_token).sub, sub);
  assert.equal(decodeJwt(refreshed.access_token)["sid"], decodeJwt(tokens.access_token)["sid"]);

  // The same browser is logged in: another client asks nothing.
  const silent = await browser.open(
    `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
      client_id: "hub",
      response_type: "code",
      scope: "openid",
      redirect_uri: "https://hub.platform.test/callback",
      prompt: "none",
      state: "x",
    }).toString()}`,
  );
  assert.match(silent.url, /^https:\/\/hub\.platform\.test\/callback\?code=/);

  const logout = client.buildEndSessionUrl(configuration, {
    id_token_hint: tokens.id_token ?? "",
    post_logout_redirect_uri: "http://portal.platform.test/bye",
    state: "after",
  });
  const page = await browser.open(logout.href);
  assert.equal(page.url, "http://portal.platform.test/bye?state=after");
  await assert.rejects(
    client.refreshTokenGrant(configuration, refreshed.refresh_token ?? ""),
    (error: unknown) => error instanceof client.ResponseBodyError && error.error === "invalid_grant",
  );
  const asksAgain = await browser.open(
    `${identity.issuer}/protocol/openid-connect/auth?client_id=hub&response_type=code&scope=openid&redirect_uri=${encodeURIComponent("https://hub.platform.test/callback")}&prompt=none`,
  );
  assert.match(asksAgain.url, /error=login_required/);
});

test("a code is good once, for its client, its redirect URI and its verifier (RFC 6749 §4.1.2, RFC 7636 §4.6)", async () => {
  const code = async (browser = new Browser()) => {
    const verifier = client.randomPKCECodeVerifier();
    const start = `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
      client_id: "portal",
      response_type: "code",
      scope: "openid",
      redirect_uri: "http://127.0.0.1/callback",
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    }).toString()}`;
    let page = await browser.open(start);
    if (page.status === 200) {
      const { action, fields } = readPageForm(page);
      page = await browser.open(action, { form: { ...fields, username: "bob", password: PASSWORD } });
    }
    return { code: new URL(page.url).searchParams.get("code") ?? "", verifier };
  };
  const redeem = (form: Record<string, string>) =>
    identity.send(TOKEN, {
      form: {
        grant_type: "authorization_code",
        client_id: "portal",
        redirect_uri: "http://127.0.0.1/callback",
        ...form,
      },
    });
  const first = await code();
  const good = await redeem({ code: first.code, code_verifier: first.verifier });
  assert.equal(good.status, 200);
  const again = await redeem({ code: first.code, code_verifier: first.verifier });
  assert.equal(again.body.error, "invalid_grant");
  // Somebody has a copy of the code: what it gave ends.
  const after = await identity.send(TOKEN, {
    form: { grant_type: "refresh_token", client_id: "portal", refresh_token: good.body.refresh_token },
  });
  assert.equal(after.body.error, "invalid_grant");

  const wrong: readonly Record<string, string>[] = [
    { code_verifier: client.randomPKCECodeVerifier() },
    { code_verifier: "" },
    { redirect_uri: "http://127.0.0.1/other" },
  ];
  for (const difference of wrong) {
    const { code: value, verifier } = await code();
    const response = await redeem({ code: value, code_verifier: verifier, ...difference });
    assert.equal(response.body.error, "invalid_grant", JSON.stringify(difference));
  }
  const other = await code();
  const stolen = await identity.send(TOKEN, {
    basic: ["hub", SECRET],
    form: {
      grant_type: "authorization_code",
      code: other.code,
      code_verifier: other.verifier,
      redirect_uri: "http://127.0.0.1/callback",
    },
  });
  assert.equal(stolen.body.error, "invalid_grant");
  const withoutPkce = await new Browser().open(
    `${identity.issuer}/protocol/openid-connect/auth?client_id=portal&response_type=code&scope=openid&redirect_uri=${encodeURIComponent("http://127.0.0.1/callback")}`,
  );
  assert.match(withoutPkce.url, /error=invalid_request/);
});

test("client credentials: the client's own account, no refresh token (RFC 6749 §4.4)", async () => {
  const configuration = await discover("dummy-service", SECRET);
  const tokens = await client.clientCredentialsGrant(configuration);
  const claims = decodeJwt(tokens.access_token);
  assert.equal(claims["preferred_username"], "service-account-dummy-service");
  assert.equal(tokens.refresh_token, undefined);
  const asPublic = await identity.send(TOKEN, { form: { grant_type: "client_credentials", client_id: "portal" } });
  assert.equal(asPublic.body.error, "unauthorized_client");
});

test("introspection tells what is active, revocation ends it (RFC 7662, RFC 7009)", async () => {
  const tokens = await identity.logIn("eric");
  const introspect = async (token: string) =>
    (await identity.send(`${TOKEN}/introspect`, { basic: ["dummy-service", SECRET], form: { token } })).body;
  const active = await introspect(tokens.access_token);
  assert.equal(active.active, true);
  assert.equal(active.username, "eric");
  assert.equal(active.client_id, "admin-cli");
  assert.deepEqual(await introspect("nonsense"), { active: false });
  assert.equal((await introspect(tokens.refresh_token)).active, true);
  const anonymous = await identity.send(`${TOKEN}/introspect`, { form: { token: tokens.access_token } });
  assert.equal(anonymous.status, 400);
  const revoke = (token: string) =>
    identity.send("/realms/master/protocol/openid-connect/revoke", { form: { token, client_id: "admin-cli" } });
  assert.equal((await revoke(tokens.access_token)).status, 200);
  assert.deepEqual(await introspect(tokens.access_token), { active: false });
  assert.equal((await introspect(tokens.refresh_token)).active, true);
  assert.equal((await revoke(tokens.refresh_token)).status, 200);
  assert.deepEqual(await introspect(tokens.refresh_token), { active: false });
  assert.equal((await revoke("nonsense")).status, 200);
  const others = await identity.logIn("eric");
  const stranger = await identity.send("/realms/master/protocol/openid-connect/revoke", {
    basic: ["hub", SECRET],
    form: { token: others.refresh_token },
  });
  assert.equal(stranger.body.error, "invalid_token");
});

test("errors of the token endpoint (RFC 6749 §5.2)", async () => {
  const cases: readonly [Record<string, string>, number, string][] = [
    [{}, 400, "invalid_request"],
    [{ grant_type: "magic", client_id: "admin-cli" }, 400, "unsupported_grant_type"],
    [{ grant_type: "password", client_id: "nobody", username: "eric", password: PASSWORD }, 401, "invalid_client"],
    [
      { grant_type: "password", client_id: "hub", client_secret: "wrong", username: "eric", password: PASSWORD },
      401,
      "invalid_client",
    ],
    [{ grant_type: "password", client_id: "admin-cli", username: "eric", password: "wrong" }, 401, "invalid_grant"],
    [{ grant_type: "password", client_id: "admin-cli", password: PASSWORD }, 400, "invalid_request"],
    [{ grant_type: "refresh_token", client_id: "admin-cli", refresh_token: "x.y.z" }, 400, "invalid_grant"],
    [{ grant_type: "authorization_code", client_id: "portal", code: "x" }, 400, "invalid_grant"],
    [{ grant_type: "__proto__", client_id: "admin-cli" }, 400, "unsupported_grant_type"],
  ];
  for (const [form, status, error] of cases) {
    const response = await identity.send(TOKEN, { form });
    assert.equal(response.status, status, JSON.stringify(form));
    assert.equal(response.body.error, error, JSON.stringify(form));
    assert.equal(typeof response.body.error_description, "string");
  }
  const basic = await identity.send(TOKEN, { basic: ["hub", "wrong"], form: { grant_type: "client_credentials" } });
  assert.equal(basic.status, 401);
  assert.match(basic.headers.get("www-authenticate") ?? "", /^Basic/);
  const twice = await identity.send(TOKEN, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  assert.equal(twice.status, 400);
  // Notebooks send a secret for the public client; it is ignored.
  const ignored = await identity.logIn("eric", PASSWORD, { client_secret: "whatever" });
  assert.equal(typeof ignored.access_token, "string");
});

test("keys rotate without breaking live tokens", async () => {
  const tokens = await identity.logIn("eric");
  const admin = await identity.logIn("admin");
  const rotated = await identity.send("/admin/realms/master/keys/rotate", {
    method: "POST",
    bearer: admin.access_token,
  });
  assert.equal(rotated.status, 204);
  const later = await identity.logIn("eric");
  const kid = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid as string;
  assert.notEqual(kid(later.access_token), kid(tokens.access_token));
  const keys = createRemoteJWKSet(new URL(`${identity.issuer}/protocol/openid-connect/certs`));
  await jwtVerify(tokens.access_token, keys);
  await jwtVerify(later.access_token, keys);
  const info = await identity.send("/realms/master/protocol/openid-connect/userinfo", { bearer: tokens.access_token });
  assert.equal(info.status, 200);
});

test("a realm may sign with ES256", async () => {
  const admin = (await identity.logIn("admin")).access_token as string;
  const put = await identity.send("/admin/realms/master", {
    method: "PUT",
    bearer: admin,
    json: { defaultSignatureAlgorithm: "ES256" },
  });
  assert.equal(put.status, 204);
  const tokens = await identity.logIn("eric");
  const keys = createRemoteJWKSet(new URL(`${identity.issuer}/protocol/openid-connect/certs`));
  const { protectedHeader } = await jwtVerify(tokens.access_token, keys);
  assert.equal(protectedHeader.alg, "ES256");
  const back = await identity.send("/admin/realms/master", {
    method: "PUT",
    bearer: admin,
    json: { defaultSignatureAlgorithm: "none" },
  });
  assert.equal(back.status, 400);
  await identity.send("/admin/realms/master", {
    method: "PUT",
    bearer: admin,
    json: { defaultSignatureAlgorithm: "RS256" },
  });
});
