import assert from "node:assert/strict";
import { before, test } from "node:test";

import { type CryptoKey, SignJWT, generateKeyPair } from "jose";

import type { Issuer } from "./issuer.ts";
import type { KeySet } from "./key-set.ts";
import { type EndedLogin, type LogoutTokenVerifier, createLogoutTokenVerifier } from "./logout-token.ts";

const ISSUER = "https://issuer.example.org";
const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };
let privateKey: CryptoKey;
let verifier: LogoutTokenVerifier;
let now = Date.now();

before(async () => {
  const pair = await generateKeyPair("ES256");
  ({ privateKey } = pair);
  verifier = createLogoutTokenVerifier({
    issuer: { url: ISSUER } as Issuer,
    clientId: "console",
    keys: { getKey: () => Promise.resolve(pair.publicKey) } as unknown as KeySet,
    clock: () => now,
  });
});

const make = (claims: Readonly<Record<string, unknown>> = {}, header: { typ?: string } = { typ: "logout+jwt" }) => {
  const seconds = Math.floor(now / 1000);
  return new SignJWT({
    iss: ISSUER,
    aud: "console",
    iat: seconds,
    exp: seconds + 120,
    jti: crypto.randomUUID(),
    sid: "s1",
    sub: "u1",
    events: EVENTS,
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", ...header })
    .sign(privateKey);
};

/** What the verifier says is to be ended. */
const accept = async (token: string) => {
  let named: EndedLogin | undefined;
  await verifier.accept(token, async (ended) => {
    named = ended;
  });
  return named;
};

test("a token may be sent again when nothing could be ended", async () => {
  const token = await make();
  const fail = () => Promise.reject(new Error("the database is away"));
  await assert.rejects(verifier.accept(token, fail), /the database is away/);
  assert.deepEqual(await accept(token), { sessionId: "s1", userId: "u1" });
  await assert.rejects(accept(token), /sent before/);
});

test("a logout token names a session, or all of a user", async () => {
  assert.deepEqual(await accept(await make()), { sessionId: "s1", userId: "u1" });
  assert.deepEqual(await accept(await make({ sub: undefined })), { sessionId: "s1", userId: undefined });
  assert.deepEqual(await accept(await make({ sid: undefined })), { sessionId: undefined, userId: "u1" });
  assert.deepEqual(await accept(await make({ aud: ["console", "x"] }, {})), { sessionId: "s1", userId: "u1" });
});

const WRONG: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, { typ?: string }?]>> = {
  "of another issuer": [{ iss: "https://evil.example.org" }],
  "for another client": [{ aud: "other" }],
  "that has ended": [{ exp: 1 }],
  "that is old": [{ iat: Math.floor(Date.now() / 1000) - 400, exp: Math.floor(Date.now() / 1000) + 3600 }],
  "without a time": [{ iat: undefined }],
  "without an id": [{ jti: undefined }],
  "with a nonce, as ID tokens have": [{ nonce: "n" }],
  "without the event": [{ events: undefined }],
  "with another event": [{ events: { "urn:other": {} } }],
  "whose event is no object": [{ events: { "http://schemas.openid.net/event/backchannel-logout": true } }],
  "of nobody": [{ sid: undefined, sub: undefined }],
  "whose session is no text": [{ sid: 7 }],
  "that is an access token": [{}, { typ: "at+jwt" }],
};

for (const [name, [claims, header]] of Object.entries(WRONG)) {
  test(`is refused: a token ${name}`, async () => {
    await assert.rejects(accept(await make(claims, header)), { name: "TokenError" });
  });
}

test("is refused: a token that was sent before, one that is not signed, and what is none", async () => {
  const token = await make();
  await accept(token);
  await assert.rejects(accept(token), /sent before/);
  const [, payload = ""] = (await make()).split(".");
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
  for (const wrong of [unsigned, "", "x", "a.b.c", "x".repeat(20_000)]) {
    await assert.rejects(accept(wrong), { name: "TokenError" });
  }
});

test("times are those of the clock that is given", async () => {
  const token = await make();
  now += 400_000;
  await assert.rejects(accept(token), { name: "TokenError" });
  now -= 400_000;
});
