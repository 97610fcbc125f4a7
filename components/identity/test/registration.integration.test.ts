import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { SignJWT, exportJWK, generateKeyPair } from "jose";
import * as openid from "openid-client";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: string;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let keysAddress: string;
let keysAsked = 0;
/** Publishes the keys of a client. */
const publisher = createServer((_request, response) => {
  keysAsked += 1;
  void exportJWK(keys.publicKey).then((jwk) =>
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ keys: [{ ...jwk, kid: "one", alg: "ES256" }] })),
  );
});

before(async () => {
  keys = await generateKeyPair("ES256", { extractable: true });
  await new Promise<void>((resolve) => publisher.listen(0, "127.0.0.1", resolve));
  keysAddress = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/keys`;
  identity = await startIdentity({ registration: "open" });
  admin = (await identity.logIn("admin")).access_token;
});
after(async () => {
  await identity.close();
  publisher.closeAllConnections();
  publisher.close();
});

const OIDC = "/realms/master/protocol/openid-connect";
const REGISTER = "/realms/master/clients-registrations/openid-connect";
const REDIRECT = "https://client.example.org/callback";
const register = (json: object, bearer?: string) =>
  identity.send(REGISTER, { json, ...(bearer !== undefined && { bearer }) });
const pathOf = (body: { registration_client_uri: string }) => new URL(body.registration_client_uri).pathname;
const sign = (clientId: string, more: Record<string, unknown> = {}, kid = "one") =>
  new SignJWT({ jti: randomUUID(), iss: clientId, sub: clientId, aud: identity.issuer, ...more })
    .setProtectedHeader({ alg: "ES256", kid })
    .setExpirationTime("1m")
    .sign(keys.privateKey);
const byAssertion = async (assertion: string) =>
  (
    await identity.send(`${OIDC}/token`, {
      form: {
        grant_type: "client_credentials",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
      },
    })
  ).status;

test("a client of others registers itself, and people must agree to a login with it (RFC 7591)", async () => {
  const configuration = await openid.dynamicClientRegistration(
    new URL(identity.issuer),
    { client_name: "Registered", redirect_uris: [REDIRECT], token_endpoint_auth_method: "client_secret_basic" },
    undefined,
    { execute: [openid.allowInsecureRequests] },
  );
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT,
    scope: "openid",
    state: "s",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser();
  const form = readPageForm(await browser.open(url.href));
  const question = await browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
  assert.match(question.text, /Registered/);
  const consent = readPageForm(question);
  const allow = /<button[^>]* name="([^"]+)" value="([^"]+)"/.exec(question.text);
  const back = await browser.open(consent.action, {
    form: { ...consent.fields, ...(allow && { [allow[1] ?? ""]: allow[2] ?? "" }) },
  });
  const tokens = await openid.authorizationCodeGrant(configuration, new URL(back.url), {
    pkceCodeVerifier: verifier,
    expectedState: "s",
    idTokenExpected: true,
  });
  assert.equal(tokens.claims()?.aud, configuration.clientMetadata().client_id);
  const { client_id: id, client_secret: secret } = configuration.clientMetadata();
  for (const grant of [
    { grant_type: "client_credentials" },
    { grant_type: "password", username: "eric", password: PASSWORD },
  ]) {
    const own = await identity.send(`${OIDC}/token`, { basic: [id, String(secret)], form: grant as never });
    assert.equal(own.body.error, "unauthorized_client", grant.grant_type);
  }
});

test("a client reads, changes and removes its registration with its own token alone (RFC 7592)", async () => {
  const { status, body } = await register({ redirect_uris: [REDIRECT], client_name: "One" });
  assert.equal(status, 201);
  const bearer = body.registration_access_token as string;
  const put = (json: object) => identity.send(pathOf(body), { method: "PUT", bearer, json });
  assert.equal((await identity.send(pathOf(body), { bearer })).body.client_name, "One");
  const changed = await put({
    client_id: body.client_id,
    redirect_uris: [`${REDIRECT}2`],
    client_name: "Two",
    dpop_bound_access_tokens: true,
    grant_types: ["authorization_code", "client_credentials"],
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(changed.body.client_name, "Two");
  assert.equal(changed.body.dpop_bound_access_tokens, true);
  assert.deepEqual(changed.body.redirect_uris, [`${REDIRECT}2`]);
  assert.deepEqual(changed.body.grant_types, ["authorization_code"], "a change gives a stranger no more than before");
  const record = (await identity.send(`/admin/realms/master/clients?clientId=${body.client_id}`, { bearer: admin }))
    .body[0];
  assert.equal(record.consentRequired, true);
  assert.equal(record.serviceAccountsEnabled, false);
  assert.equal((await put({ client_id: "portal", redirect_uris: [REDIRECT] })).status, 400);
  assert.equal(
    (await put({ client_id: body.client_id, client_secret: "mine", redirect_uris: [REDIRECT] })).status,
    400,
  );
  const other = (await register({ redirect_uris: [REDIRECT] })).body;
  for (const method of ["GET", "PUT", "DELETE"]) {
    const response = await identity.send(pathOf(body), {
      method,
      bearer: other.registration_access_token,
      ...(method === "PUT" && { json: { client_id: body.client_id, redirect_uris: [REDIRECT] } }),
    });
    assert.equal(response.status, 401, method);
  }
  assert.equal((await identity.send(`${REGISTER}/portal`, { bearer })).status, 401);
  assert.equal((await identity.send(pathOf(body), { method: "DELETE", bearer })).status, 204);
  assert.equal((await identity.send(pathOf(body), { bearer })).status, 401);
});

test("a client's keys are read from where it publishes them, and no others count", async () => {
  const { body } = await register(
    {
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: keysAddress,
      grant_types: ["client_credentials"],
      redirect_uris: [],
    },
    admin,
  );
  const id = body.client_id as string;
  assert.equal(body.jwks_uri, keysAddress);
  const assertion = await sign(id);
  assert.equal(await byAssertion(assertion), 200);
  assert.equal(await byAssertion(assertion), 401, "once");
  const response = keysAsked;
  for (let count = 0; count < 5; count += 1) {
    assert.equal(await byAssertion(await sign(id, {}, `unknown ${count}`)), 401);
  }
  assert.ok(keysAsked - response <= 1, "unknown keys do not make this service ask again and again");
  const secret = (await identity.send(`/admin/realms/master/clients?clientId=${id}`, { bearer: admin })).body[0].secret;
  const bySecret = await identity.send(`${OIDC}/token`, {
    basic: [id, String(secret)],
    form: { grant_type: "client_credentials" },
  });
  assert.equal(bySecret.status, 401, "a secret beside keys counts for nothing");
});

test("addresses inside of the network are not asked for keys", async () => {
  for (const host of ["169.254.169.254", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "0.0.0.0", "localtest.invalid"]) {
    const { status, body } = await register(
      {
        token_endpoint_auth_method: "private_key_jwt",
        jwks_uri: `http://${host}/keys`,
        grant_types: ["client_credentials"],
      },
      admin,
    );
    assert.equal(status, 201, host);
    assert.equal(await byAssertion(await sign(body.client_id as string)), 401, host);
  }
  assert.ok(identity.logged.some((line) => line.includes("169.254.169.254") && line.includes("not public")));
});

test("metadata that is not right is refused", async () => {
  const jwk = await exportJWK(keys.publicKey);
  const wrong: Record<string, object> = {
    "a star": { redirect_uris: ["https://a.test/*"] },
    "a script": { redirect_uris: ["javascript:alert(1)"] },
    "keys nowhere": { token_endpoint_auth_method: "private_key_jwt" },
    "keys twice": { jwks_uri: "https://a.test/k", jwks: { keys: [jwk] } },
    "a private key": { jwks: { keys: [await exportJWK(keys.privateKey)] } },
    "a shared key": { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } },
    "no set": { jwks: { keys: "all" } },
    "another scheme": { jwks_uri: "file:///etc/passwd" },
    "a user in an address": { backchannel_logout_uri: "https://a:b@c.test/" },
    "frames of others": { redirect_uris: [REDIRECT], frontchannel_logout_uri: "https://elsewhere.test/out" },
    "no truth": { dpop_bound_access_tokens: "yes" },
    "an unknown method": { token_endpoint_auth_method: "tls_client_auth" },
  };
  for (const [why, metadata] of Object.entries(wrong)) {
    const response = await register(metadata);
    assert.equal(response.status, 400, `${why}: ${response.text}`);
    assert.match(response.body.error, /^invalid_(client_metadata|redirect_uri)$/, why);
  }
  assert.equal((await register({}, "no.good.token")).status, 401);
  const user = (await identity.logIn("eric")).access_token;
  assert.equal((await register({}, user)).status, 403);
});

test("registration is off unless it is turned on, and discovery says what is", async () => {
  const { body } = await identity.send("/realms/master/.well-known/openid-configuration");
  assert.equal(body.registration_endpoint, `${identity.url}${REGISTER}`);
  const other = await startIdentity();
  try {
    const document = (await other.send("/realms/master/.well-known/openid-configuration")).body;
    assert.equal(document.registration_endpoint, undefined);
    assert.equal((await other.send(REGISTER, { json: {} })).status, 404);
  } finally {
    await other.close();
  }
});

test("a registration, or a change by an administrator, is not taken from JSON that is called a form", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  for (const [method, path, body] of [
    ["POST", REGISTER, { redirect_uris: [REDIRECT], grant_types: ["authorization_code"] }],
    ["POST", "/admin/realms/master/clients", { clientId: "narrow", publicClient: false, redirectUris: [REDIRECT] }],
    ["POST", "/admin/realms/master/groups", { name: "narrow" }],
  ] as const) {
    for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
      const response = await fetch(new URL(path, identity.url), {
        method,
        headers: { "content-type": type, authorization: `Bearer ${bearer}` },
        body: JSON.stringify(body),
      });
      assert.equal(response.status, 415, `${path} ${type}: ${await response.text()}`);
    }
  }
});
