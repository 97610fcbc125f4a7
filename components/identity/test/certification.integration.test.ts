import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import * as openid from "openid-client";

import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

/**
 * The certification plans of the OpenID Foundation for providers, test by test under the names that its suite has for them, by a client of
 * others (openid-client) and plain requests. docs/reference/openid-certification.md lists them.
 */
let identity: TestIdentity;
let configuration: openid.Configuration;
const CLIENT = "certified";
const REDIRECT = "https://rp.example.org/callback";
const LOGGED_OUT = "https://rp.example.org/logged-out";
const execute = [openid.allowInsecureRequests];

before(async () => {
  identity = await startIdentity();
  const bearer = (await identity.logIn("admin")).access_token as string;
  const [user] = (await identity.send("/admin/realms/master/users?username=eric&exact=true", { bearer })).body;
  await identity.send(`/admin/realms/master/users/${user.id}`, {
    method: "PUT",
    bearer,
    json: {
      email: "eric@example.org",
      firstName: "Eric",
      lastName: "Example",
      attributes: { phoneNumber: ["+49 1"], street: ["A street 1"], locality: ["A town"] },
    },
  });
  const made = await identity.send("/admin/realms/master/clients", {
    bearer,
    json: {
      clientId: CLIENT,
      secret: SECRET,
      redirectUris: [REDIRECT],
      attributes: { "post.logout.redirect.uris": `${LOGGED_OUT}##${LOGGED_OUT}?kept=1` },
    },
  });
  assert.equal(made.status, 201, made.text);
  configuration = await discover(openid.ClientSecretBasic(SECRET));
});
after(() => identity.close());

const discover = (authentication: openid.ClientAuth) =>
  openid.discovery(new URL(identity.issuer), CLIENT, { client_secret: SECRET }, authentication, { execute });
const OIDC = "/realms/master/protocol/openid-connect";
const at = (endpoint: string) => `${identity.url}${OIDC}/${endpoint}`;
const request = (more: Record<string, string> = {}): Record<string, string> => ({
  client_id: CLIENT,
  response_type: "code",
  redirect_uri: REDIRECT,
  scope: "openid",
  state: "a state",
  nonce: "a nonce",
  ...more,
});
const addressOf = (parameters: Record<string, string>) => `${at("auth")}?${new URLSearchParams(parameters).toString()}`;
const start = (browser: Browser, parameters: Record<string, string>) => browser.open(addressOf(parameters));
const isBack = (page: Page) => page.url.startsWith(REDIRECT);
const errorOf = (page: Page) => new URL(page.url).searchParams.get("error");

async function enter(browser: Browser, page: Page): Promise<Page> {
  const form = readPageForm(page);
  return browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
}

/** A login from beginning to end; the user is asked unless the browser knows him. */
async function logIn(
  more: Record<string, string> = {},
  { browser = new Browser(), client = configuration }: { browser?: Browser; client?: openid.Configuration } = {},
) {
  const parameters = request(more);
  const page = await start(browser, parameters);
  const back = isBack(page) ? page : await enter(browser, page);
  assert.ok(isBack(back), `${back.status} ${back.url} ${back.text.slice(0, 500)}`);
  const tokens = await openid.authorizationCodeGrant(client, new URL(back.url), {
    expectedState: "a state",
    ...(parameters["nonce"] !== "" && { expectedNonce: parameters["nonce"] }),
    idTokenExpected: true,
  });
  return { tokens, browser, wasAsked: !isBack(page), code: new URL(back.url).searchParams.get("code") ?? "" };
}
const infoOf = (tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers) =>
  openid.fetchUserInfo(configuration, tokens.access_token, tokens.claims()?.sub ?? "");

test("oidcc-server, oidcc-idtoken-signature: code flow, HTTP Basic, the ID token's signature and claims", async () => {
  const { tokens } = await logIn();
  const keys = createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri ?? ""));
  const { payload, protectedHeader } = await jwtVerify(tokens.id_token ?? "", keys, {
    issuer: identity.issuer,
    audience: CLIENT,
    requiredClaims: ["sub", "iat", "exp", "auth_time", "nonce"],
  });
  assert.equal(protectedHeader.alg, "RS256");
  assert.ok(protectedHeader.kid);
  assert.equal(payload["nonce"], "a nonce");
});

test("oidcc-idtoken-unsigned: nobody gets one, and discovery says so", async () => {
  assert.deepEqual(configuration.serverMetadata().id_token_signing_alg_values_supported, ["RS256"]);
  const [, payload = ""] = ((await logIn()).tokens.id_token ?? "").split(".");
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
  const page = await start(new Browser(), request({ prompt: "none", id_token_hint: unsigned }));
  assert.ok(isBack(page) ? errorOf(page) !== null : page.status === 400, page.url);
});

test("oidcc-response-type-missing", async () => {
  const { response_type: _, ...rest } = request();
  const page = await start(new Browser(), rest);
  assert.ok(
    page.status === 400 || errorOf(page) === "invalid_request" || errorOf(page) === "unsupported_response_type",
  );
});

test("oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body", async () => {
  const { tokens } = await logIn();
  const sub = tokens.claims()?.sub;
  const bearer = tokens.access_token;
  for (const init of [{ bearer }, { method: "POST", bearer }, { form: { access_token: bearer } }]) {
    const { status, body } = await identity.send(`${OIDC}/userinfo`, init);
    assert.equal(status, 200);
    assert.equal(body.sub, sub);
  }
});

test("oidcc-ensure-request-without-nonce-succeeds-for-code-flow", async () => {
  const { tokens } = await logIn({ nonce: "" });
  assert.equal(tokens.claims()?.nonce, undefined);
});

test("oidcc-scope-profile, -email, -address, -phone, -all, oidcc-ensure-other-scope-order-succeeds", async () => {
  const expected: Record<string, readonly string[]> = {
    "openid profile": ["name", "given_name", "family_name", "preferred_username"],
    "openid email": ["email", "email_verified"],
    "openid address": ["address"],
    "openid phone": ["phone_number"],
    "openid profile email address phone": ["name", "email", "address", "phone_number"],
    "email openid": ["email", "email_verified"],
  };
  for (const [scope, claims] of Object.entries(expected)) {
    const info = await infoOf((await logIn({ scope })).tokens);
    assert.deepEqual(
      claims.filter((claim) => info[claim] === undefined),
      [],
      scope,
    );
  }
});

test("oidcc-display-page, oidcc-display-popup, -ui-locales, -claims-locales, -acr-values, unknown parameters", async () => {
  for (const more of [
    { display: "page" },
    { display: "popup" },
    { ui_locales: "se" },
    { claims_locales: "se" },
    { acr_values: "1 2" },
    { extra: "foobar" },
  ]) {
    await logIn(more as Record<string, string>);
  }
});

test("oidcc-prompt-login: somebody who is logged in is asked again", async () => {
  const first = await logIn();
  const second = await logIn({ prompt: "login" }, first);
  assert.equal(second.wasAsked, true);
  assert.ok(Number(second.tokens.claims()?.auth_time) >= Number(first.tokens.claims()?.auth_time));
});

test("oidcc-prompt-none-not-logged-in, oidcc-prompt-none-logged-in", async () => {
  const page = await start(new Browser(), request({ prompt: "none" }));
  assert.equal(errorOf(page), "login_required");
  const { browser, tokens } = await logIn();
  const again = await logIn({ prompt: "none" }, { browser });
  assert.equal(again.wasAsked, false);
  assert.equal(again.tokens.claims()?.sub, tokens.claims()?.sub);
  assert.equal(again.tokens.claims()?.auth_time, tokens.claims()?.auth_time);
});

test("oidcc-max-age-1, oidcc-max-age-10000", async () => {
  const { browser, tokens } = await logIn();
  const known = await logIn({ max_age: "10000" }, { browser });
  assert.equal(known.wasAsked, false);
  assert.equal(known.tokens.claims()?.auth_time, tokens.claims()?.auth_time);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  const again = await logIn({ max_age: "1" }, { browser });
  assert.equal(again.wasAsked, true);
  assert.ok(Number(again.tokens.claims()?.auth_time) > Number(tokens.claims()?.auth_time));
});

test("oidcc-id-token-hint, oidcc-login-hint", async () => {
  const { browser, tokens } = await logIn();
  const again = await logIn({ prompt: "none", id_token_hint: tokens.id_token ?? "" }, { browser });
  assert.equal(again.tokens.claims()?.sub, tokens.claims()?.sub);
  const page = await start(new Browser(), request({ login_hint: "eric" }));
  assert.match(page.text, /value="eric"/);
});

test("oidcc-codereuse, oidcc-codereuse-30seconds: a code is good once, and what it gave ends with the second try", async () => {
  const { browser, tokens, code } = await logIn();
  const other = await logIn({}, { browser });
  const again = await identity.send(`${OIDC}/token`, {
    basic: [CLIENT, SECRET],
    form: { grant_type: "authorization_code", code, redirect_uri: REDIRECT },
  });
  assert.equal(again.status, 400);
  assert.equal(again.body.error, "invalid_grant");
  const refresh = (token = "") =>
    identity.send(`${OIDC}/token`, {
      basic: [CLIENT, SECRET],
      form: { grant_type: "refresh_token", refresh_token: token },
    });
  assert.equal((await identity.send(`${OIDC}/userinfo`, { bearer: tokens.access_token })).status, 401);
  assert.equal((await refresh(tokens.refresh_token)).status, 400);
  // What did not come of that code goes on: the login in the browser, and tokens of another code.
  assert.equal((await identity.send(`${OIDC}/userinfo`, { bearer: other.tokens.access_token })).status, 200);
  assert.equal((await refresh(other.tokens.refresh_token)).status, 200);
  assert.ok((await logIn({ prompt: "none" }, { browser })).tokens.access_token);
});

test("oidcc-ensure-registered-redirect-uri: nobody is sent to another address", async () => {
  for (const uri of [
    `${REDIRECT}/x`,
    `${REDIRECT}?a=b`,
    "https://rp.example.org.evil.test/callback",
    "//evil.test/",
    "",
  ]) {
    const page = await start(new Browser(), request({ redirect_uri: uri }));
    assert.equal(page.status, 400, uri);
    assert.ok(page.url.startsWith(identity.url), uri);
  }
});

test("oidcc-ensure-post-request-succeeds", async () => {
  const browser = new Browser();
  const back = await enter(browser, await browser.open(at("auth"), { form: request() }));
  const checks = { expectedState: "a state", expectedNonce: "a nonce" };
  assert.ok((await openid.authorizationCodeGrant(configuration, new URL(back.url), checks)).access_token);
});

test("oidcc-server-client-secret-post", async () => {
  const { tokens } = await logIn({}, { client: await discover(openid.ClientSecretPost(SECRET)) });
  assert.ok(tokens.id_token);
});

test("oidcc-unsigned-request-object, oidcc-ensure-request-object-with-redirect-uri: refused as not supported", async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const object = `${part({ alg: "none" })}.${part({ ...request(), redirect_uri: "https://evil.test/" })}.`;
  const page = await start(new Browser(), request({ request: object }));
  assert.equal(errorOf(page), "request_not_supported");
  assert.ok(isBack(page));
});

test("oidcc-request-uri-unsigned: no address of a client is ever fetched", async () => {
  const byAddress = await start(new Browser(), request({ request_uri: "http://169.254.169.254/latest" }));
  assert.ok(errorOf(byAddress) === "request_uri_not_supported" || byAddress.status === 400);
});

test("oidcc-claims-essential: what cannot be asked for this way does no harm, and discovery says that it cannot", async () => {
  assert.equal(configuration.serverMetadata().claims_parameter_supported, false);
  await logIn({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) });
});

test("oidcc-refresh-token", async () => {
  const { tokens } = await logIn();
  const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
  assert.equal(next.claims()?.sub, tokens.claims()?.sub);
  assert.equal(next.claims()?.auth_time, tokens.claims()?.auth_time);
  assert.equal(next.claims()?.aud, CLIENT);
  await infoOf(next);
  const other = await openid.discovery(
    new URL(identity.issuer),
    "hub",
    { client_secret: SECRET },
    openid.ClientSecretBasic(SECRET),
    { execute },
  );
  await assert.rejects(openid.refreshTokenGrant(other, next.refresh_token ?? ""), /./, "another client");
});

test("oidcc-ensure-request-with-valid-pkce-succeeds", async () => {
  const verifier = openid.randomPKCECodeVerifier();
  const challenge = {
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  const back = async () => {
    const browser = new Browser();
    return new URL((await enter(browser, await start(browser, request(challenge)))).url);
  };
  const checks = { expectedState: "a state", expectedNonce: "a nonce" };
  const right = { ...checks, pkceCodeVerifier: verifier };
  assert.ok((await openid.authorizationCodeGrant(configuration, await back(), right)).access_token);
  const wrong = { ...checks, pkceCodeVerifier: openid.randomPKCECodeVerifier() };
  await assert.rejects(openid.authorizationCodeGrant(configuration, await back(), wrong));
});

test("oidcc-discovery-endpoint-verification, with the endpoints of all logout plans", async () => {
  const { body, status, headers } = await identity.send("/realms/master/.well-known/openid-configuration");
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.equal(body.issuer, identity.issuer);
  for (const name of ["authorization", "token", "userinfo", "end_session", "introspection", "revocation"]) {
    assert.ok(URL.canParse(body[`${name}_endpoint`]), name);
  }
  assert.ok(body.scopes_supported.includes("openid"));
  assert.deepEqual(body.response_types_supported, ["code"]);
  assert.ok(body.subject_types_supported.includes("public"));
  assert.deepEqual(body.id_token_signing_alg_values_supported, ["RS256"]);
  for (const name of ["frontchannel", "backchannel"]) {
    assert.equal(body[`${name}_logout_supported`], true);
    assert.equal(body[`${name}_logout_session_supported`], true);
  }
  const { keys } = (await identity.send(new URL(body.jwks_uri).pathname)).body as { keys: Record<string, string>[] };
  assert.ok(keys.length > 0);
  for (const key of keys) {
    assert.deepEqual(
      ["d", "p", "q", "k"].filter((secret) => secret in key),
      [],
    );
    assert.ok(key["kid"] && key["use"] === "sig");
  }
});

interface LogoutTry {
  readonly more?: Record<string, string>;
  /** False for a request without the ID token. */
  readonly hint?: boolean | string;
}

/** Logs in, goes to the logout page, and agrees where it asks. */
async function logOut({ more = {}, hint = true }: LogoutTry) {
  const { browser, tokens } = await logIn();
  const parameters = {
    ...(hint === true && { id_token_hint: tokens.id_token ?? "" }),
    ...(typeof hint === "string" && { id_token_hint: hint }),
    ...more,
  };
  const page = await browser.open(`${at("logout")}?${new URLSearchParams(parameters).toString()}`);
  const wasAsked = page.text.includes("Log out?");
  const form = wasAsked ? readPageForm(page) : undefined;
  const end = form === undefined ? page : await browser.open(form.action, { form: form.fields });
  const next = await start(browser, request({ prompt: "none" }));
  return { page: end, wasAsked, isLoggedOut: errorOf(next) === "login_required" };
}
const back = { post_logout_redirect_uri: LOGGED_OUT };

test("oidcc-rp-initiated-logout, -no-state, -query-added-to-post-logout-redirect-uri", async () => {
  for (const [more, expected] of [
    [{ ...back, state: "s" }, `${LOGGED_OUT}?state=s`],
    [back, LOGGED_OUT],
    [{ post_logout_redirect_uri: `${LOGGED_OUT}?kept=1`, state: "s" }, `${LOGGED_OUT}?kept=1&state=s`],
  ] as const) {
    const { page, wasAsked, isLoggedOut } = await logOut({ more });
    assert.equal(page.url, expected);
    assert.equal(wasAsked, false);
    assert.equal(isLoggedOut, true);
  }
  const added = await logOut({ more: { post_logout_redirect_uri: `${LOGGED_OUT}?foo=bar` } });
  assert.equal(added.page.status, 400, "a query that is not registered is another address");
});

test("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri", async () => {
  const { page, isLoggedOut } = await logOut({ more: { post_logout_redirect_uri: "https://evil.test/" } });
  assert.equal(page.status, 400);
  assert.ok(page.url.startsWith(identity.url));
  assert.equal(isLoggedOut, false);
});

test("oidcc-rp-initiated-logout-bad-id-token-hint, -modified-id-token-hint, -no-id-token-hint: nobody is sent on unproven", async () => {
  const token = (await logIn()).tokens.id_token ?? "";
  const [header, , signature] = token.split(".");
  const payload = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: "somebody else" })).toString("base64url");
  for (const hint of ["bad", `${header}.${payload}.${signature}`, false] as const) {
    const { page, wasAsked } = await logOut({ more: back, hint });
    assert.ok(wasAsked || page.status === 400, String(hint));
    assert.ok(page.url.startsWith(identity.url), String(hint));
  }
});

test("oidcc-rp-initiated-logout-no-params, -only-state, -no-post-logout-redirect-uri: the person is asked, and stays", async () => {
  for (const [attempt, asks] of [
    [{ hint: false }, true],
    [{ hint: false, more: { state: "s" } }, true],
    [{ more: { state: "s" } }, false],
  ] as const) {
    const { page, wasAsked, isLoggedOut } = await logOut(attempt);
    assert.equal(wasAsked, asks);
    assert.match(page.text, /You are logged out/);
    assert.equal(isLoggedOut, true);
  }
});
