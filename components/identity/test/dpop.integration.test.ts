import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import { type JWK, SignJWT, calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair } from "jose";
import * as openid from "openid-client";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let jwk: JWK;
before(async () => {
  identity = await startIdentity();
  keys = await generateKeyPair("ES256", { extractable: true });
  jwk = await exportJWK(keys.publicKey);
});
after(() => identity.close());

const OIDC = "/realms/master/protocol/openid-connect";
const at = (endpoint: string) => `${identity.url}${OIDC}/${endpoint}`;
const CODE = {
  client_id: "portal",
  response_type: "code",
  scope: "openid",
  redirect_uri: "http://127.0.0.1/callback",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

interface Made {
  readonly method?: string;
  readonly token?: string;
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly key?: Parameters<SignJWT["sign"]>[0];
}

/** A proof for a request to `endpoint`, with whatever is to be wrong in it. */
async function prove(endpoint: string, { method = "POST", token, header, claims, key }: Made = {}) {
  return new SignJWT({
    jti: randomUUID(),
    htm: method,
    htu: at(endpoint),
    iat: Math.floor(Date.now() / 1000),
    ...(token !== undefined && { ath: hash("sha256", token, "base64url") }),
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk, ...header })
    .sign(key ?? keys.privateKey);
}

const PASSWORD_GRANT = { grant_type: "password", username: "eric", password: PASSWORD, scope: "openid" };
const send = async (dpop: string | undefined, form: Record<string, string>, basic?: readonly [string, string]) =>
  identity.send(`${OIDC}/token`, { form, ...(dpop !== undefined && { headers: { dpop } }), ...(basic && { basic }) });
const logIn = async () => (await send(await prove("token"), { ...PASSWORD_GRANT, client_id: "portal" })).body;
const userinfo = async (authorization: string, dpop?: string) =>
  (await identity.send(`${OIDC}/userinfo`, { headers: { authorization, ...(dpop !== undefined && { dpop }) } })).status;

test("a client of others logs in with DPoP, uses its token, and refreshes it (RFC 9449)", async () => {
  const configuration = await openid.discovery(
    new URL(identity.issuer),
    "hub",
    { client_secret: SECRET },
    openid.ClientSecretPost(SECRET),
    { execute: [openid.allowInsecureRequests] },
  );
  assert.ok(configuration.serverMetadata().dpop_signing_alg_values_supported?.includes("ES256"));
  const handle = openid.getDPoPHandle(configuration, await openid.randomDPoPKeyPair("ES256"));
  const verifier = openid.randomPKCECodeVerifier();
  const nonce = openid.randomNonce();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: "https://hub.platform.test/callback",
    scope: "openid profile",
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    dpop_jkt: await handle.calculateThumbprint(),
  });
  const browser = new Browser();
  const form = readPageForm(await browser.open(url.href));
  const back = await browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
  const tokens = await openid.authorizationCodeGrant(
    configuration,
    new URL(back.url),
    { pkceCodeVerifier: verifier, expectedNonce: nonce, idTokenExpected: true },
    undefined,
    { DPoP: handle },
  );
  assert.equal(tokens.token_type, "dpop");
  const info = await openid.fetchUserInfo(configuration, tokens.access_token, tokens.claims()?.sub ?? "", {
    DPoP: handle,
  });
  assert.equal(info.preferred_username, "eric");
  const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? "", undefined, { DPoP: handle });
  assert.equal(next.token_type, "dpop");
  const { cnf } = decodeJwt(next.access_token) as { cnf?: { jkt?: string } };
  assert.equal(cnf?.jkt, await handle.calculateThumbprint());
});

test("a bound token is good with its key only, everywhere, and a proof once", async () => {
  const tokens = await logIn();
  const token = tokens.access_token as string;
  assert.equal(tokens.token_type, "DPoP");
  const proof = await prove("userinfo", { method: "GET", token });
  assert.equal(await userinfo(`DPoP ${token}`, proof), 200);
  assert.equal(await userinfo(`DPoP ${token}`, proof), 400, "a proof that was used");
  assert.equal(await userinfo(`Bearer ${token}`), 401, "the token alone");
  assert.equal(await userinfo(`DPoP ${token}`), 400, "without a proof");
  const thief = await generateKeyPair("ES256", { extractable: true });
  const stolen = await prove("userinfo", {
    method: "GET",
    token,
    header: { jwk: await exportJWK(thief.publicKey) },
    key: thief.privateKey,
  });
  assert.equal(await userinfo(`DPoP ${token}`, stolen), 401, "with the key of somebody else");
  const other = (await identity.logIn("eric")).access_token as string;
  const unbound = await prove("userinfo", { method: "GET", token: other });
  assert.equal(await userinfo(`DPoP ${other}`, unbound), 401, "a token that is not bound");
  const swapped = await prove("userinfo", { method: "GET", token: other });
  assert.equal(await userinfo(`DPoP ${token}`, swapped), 400, "a proof for another token");
  assert.equal((await identity.send("/admin/realms/master/users", { bearer: token })).status, 401);
  const rpt = { grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket", audience: "dummy-service" };
  assert.equal((await identity.send(`${OIDC}/token`, { bearer: token, form: rpt })).status, 401);
  const headers = { authorization: `DPoP ${token}`, dpop: await prove("token", { token }) };
  const exchanged = await identity.send(`${OIDC}/token`, { headers, form: rpt });
  assert.equal(exchanged.status, 200, exchanged.text);
  assert.equal(exchanged.body.token_type, "DPoP");
  const seen = await identity.send(`${OIDC}/token/introspect`, { basic: ["dummy-service", SECRET], form: { token } });
  assert.equal(seen.body.active, true);
  assert.equal(seen.body.token_type, "DPoP");
  assert.equal(seen.body.cnf.jkt, await calculateJwkThumbprint(jwk));
});

test("proofs that are not right are refused (RFC 9449 §4.3)", async () => {
  const now = Math.floor(Date.now() / 1000);
  const hmac = new TextEncoder().encode("a secret that both of us know, of some length");
  const oct: JWK = { kty: "oct", k: Buffer.from(hmac).toString("base64url") };
  const wrong: readonly (readonly [string, string])[] = [
    ["another method", await prove("token", { method: "GET" })],
    ["another address", await prove("userinfo")],
    ["another host", await prove("token", { claims: { htu: `https://elsewhere.example${OIDC}/token` } })],
    ["an old one", await prove("token", { claims: { iat: now - 600 } })],
    ["one of the future", await prove("token", { claims: { iat: now + 600 } })],
    ["without an id", await prove("token", { claims: { jti: undefined } })],
    ["an id that is no text", await prove("token", { claims: { jti: 7 } })],
    ["another type", await prove("token", { header: { typ: "JWT" } })],
    ["a shared secret", await prove("token", { header: { alg: "HS256", jwk: oct }, key: hmac })],
    ["its private key in it", await prove("token", { header: { jwk: await exportJWK(keys.privateKey) } })],
    ["signed by another key", await prove("token", { key: (await generateKeyPair("ES256")).privateKey })],
    ["without a key", await prove("token", { header: { jwk: undefined } })],
    ["no signature", `${(await prove("token")).split(".").slice(0, 2).join(".")}.`],
    ["alg none", `${Buffer.from('{"alg":"none","typ":"dpop+jwt"}').toString("base64url")}.e30.`],
    ["no token", "a.b.c"],
    ["too long", "a".repeat(9000)],
    ["two of them", `${await prove("token")}, ${await prove("token")}`],
  ];
  for (const [why, proof] of wrong) {
    const response = await send(proof, { ...PASSWORD_GRANT, client_id: "portal" });
    assert.equal(response.status, 400, why);
    assert.equal(response.body.error, "invalid_dpop_proof", why);
  }
  const twice = await prove("token");
  assert.equal((await send(twice, { ...PASSWORD_GRANT, client_id: "portal" })).status, 200);
  assert.equal((await send(twice, { ...PASSWORD_GRANT, client_id: "portal" })).body.error, "invalid_dpop_proof");
});

test("refresh tokens of public clients are bound, those of clients with a secret are not (RFC 9449 §5)", async () => {
  const { refresh_token: refresh } = await logIn();
  const form = { grant_type: "refresh_token", client_id: "portal", refresh_token: refresh };
  assert.equal((await send(undefined, form)).body.error, "invalid_grant");
  const thief = await generateKeyPair("ES256", { extractable: true });
  const header = { jwk: await exportJWK(thief.publicKey) };
  const stolen = await send(await prove("token", { header, key: thief.privateKey }), form);
  assert.equal(stolen.body.error, "invalid_grant");
  assert.equal((await send(await prove("token"), form)).body.token_type, "DPoP");
  const basic = ["hub", SECRET] as const;
  const own = (await send(await prove("token"), PASSWORD_GRANT, basic)).body;
  const renewed = await send(
    await prove("token", { header, key: thief.privateKey }),
    { grant_type: "refresh_token", refresh_token: own.refresh_token },
    basic,
  );
  assert.equal(
    decodeJwt<{ cnf: { jkt: string } }>(renewed.body.access_token).cnf.jkt,
    await calculateJwkThumbprint(header.jwk),
  );
});

test("a code is bound to the key of dpop_jkt, or of the proof of a pushed request (RFC 9449 §10)", async () => {
  const codeOf = async (query: Record<string, string>) => {
    const browser = new Browser();
    const form = readPageForm(await browser.open(`${at("auth")}?${new URLSearchParams(query).toString()}`));
    const end = await browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
    return new URL(end.url).searchParams.get("code") ?? "";
  };
  const exchange = (code: string) => ({
    grant_type: "authorization_code",
    client_id: "portal",
    code,
    redirect_uri: CODE.redirect_uri,
    code_verifier: VERIFIER,
  });
  const jkt = await calculateJwkThumbprint(jwk);
  assert.equal((await send(undefined, exchange(await codeOf({ ...CODE, dpop_jkt: jkt })))).body.error, "invalid_grant");
  assert.equal((await send(await prove("token"), exchange(await codeOf({ ...CODE, dpop_jkt: jkt })))).status, 200);
  const push = async (more: Record<string, string>) =>
    identity.send(`${OIDC}/ext/par/request`, {
      form: { ...CODE, ...more },
      headers: { dpop: await prove("ext/par/request") },
    });
  const { body } = await push({});
  const code = await codeOf({ client_id: "portal", request_uri: body.request_uri });
  assert.equal((await send(undefined, exchange(code))).body.error, "invalid_grant");
  assert.equal((await push({ dpop_jkt: "another" })).status, 400);
});

test("a client whose tokens must be bound gets none without a key", async () => {
  const admin = (await identity.logIn("admin")).access_token;
  await identity.send("/admin/realms/master/clients", {
    bearer: admin,
    json: { clientId: "bound", publicClient: true, attributes: { "dpop.bound.access.tokens": "true" } },
  });
  const form = { ...PASSWORD_GRANT, client_id: "bound" };
  assert.equal((await send(undefined, form)).body.error, "invalid_dpop_proof");
  assert.equal((await send(await prove("token"), form)).body.token_type, "DPoP");
});
