import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

import { HOST, type Fixture, startFixture } from "./fixture.ts";

let fixture: Fixture;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let thumbprint: string;
before(async () => {
  fixture = await startFixture();
  keys = await generateKeyPair("ES256", { extractable: true });
  thumbprint = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
});
after(() => fixture.close());

const PATH = "/eric/data";
const bound = async () => fixture.provider.sign({ cnf: { jkt: thumbprint } });
const prove = async (token: string, claims: Record<string, unknown> = {}, pair = keys) =>
  new SignJWT({
    jti: randomUUID(),
    htm: "GET",
    htu: `http://${HOST}${PATH}`,
    iat: Math.floor(Date.now() / 1000),
    ath: hash("sha256", token, "base64url"),
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: await exportJWK(pair.publicKey) })
    .sign(pair.privateKey);
const send = (headers: Record<string, string | readonly string[]>) => fixture.send({ path: PATH, headers });

test("a bound token passes with a proof, and the service hears of the key from the gatekeeper alone", async () => {
  const token = await bound();
  const response = await send({
    authorization: `DPoP ${token}`,
    dpop: await prove(token),
    "x-auth-token-key": "what the client says",
  });
  assert.equal(response.status, 200, response.body);
  const headers = fixture.seen.at(-1)?.headers;
  assert.equal(headers?.["x-auth-token-key"], thumbprint);
  assert.equal(headers?.authorization, `Bearer ${token}`);
  assert.equal(headers?.["x-auth-username"], "eric");
  assert.equal(headers?.["dpop"], undefined);
});

test("a bound token is nothing without the key it is bound to", async () => {
  const token = await bound();
  const other = await generateKeyPair("ES256", { extractable: true });
  const unbound = await fixture.provider.sign();
  const used = await prove(token);
  assert.equal((await send({ authorization: `DPoP ${token}`, dpop: used })).status, 200);
  const wrong: Record<string, Record<string, string | readonly string[]>> = {
    "as Bearer": { authorization: `Bearer ${token}` },
    "as a cookie": { cookie: `auth_user_id=${token}` },
    "as Bearer, with the header of the gatekeeper": {
      authorization: `Bearer ${token}`,
      "x-auth-token-key": thumbprint,
    },
    "without a proof": { authorization: `DPoP ${token}` },
    "a proof that was used": { authorization: `DPoP ${token}`, dpop: used },
    "two proofs": { authorization: `DPoP ${token}`, dpop: [await prove(token), await prove(token)] },
    "another key": { authorization: `DPoP ${token}`, dpop: await prove(token, {}, other) },
    "another method": { authorization: `DPoP ${token}`, dpop: await prove(token, { htm: "POST" }) },
    "another path": { authorization: `DPoP ${token}`, dpop: await prove(token, { htu: `http://${HOST}/bob/x` }) },
    "another host": { authorization: `DPoP ${token}`, dpop: await prove(token, { htu: `http://a.test${PATH}` }) },
    "another token": { authorization: `DPoP ${token}`, dpop: await prove(unbound) },
    "without its hash": { authorization: `DPoP ${token}`, dpop: await prove(token, { ath: undefined }) },
    "an old proof": { authorization: `DPoP ${token}`, dpop: await prove(token, { iat: 1_700_000_000 }) },
    "a token that is not bound": { authorization: `DPoP ${unbound}`, dpop: await prove(unbound) },
    "bound to nothing known": {
      authorization: `Bearer ${await fixture.provider.sign({ cnf: { "x5t#S256": "a certificate" } })}`,
    },
    "no token at all": { authorization: "DPoP", dpop: await prove("") },
  };
  for (const [why, headers] of Object.entries(wrong)) {
    const response = await send(headers);
    assert.equal(response.status, 401, why);
    const challenge = response.headers["www-authenticate"] ?? "";
    assert.match(challenge, String(headers["authorization"]).startsWith("DPoP") ? /^DPoP algs="ES256/ : /^Bearer/, why);
  }
});

test("an address counts in any spelling that means the same, without its query", async () => {
  const token = await bound();
  for (const htu of [`http://${HOST}:80/%65ric/data`, `http://${HOST.toUpperCase()}${PATH}?x=1`]) {
    const dpop = await prove(token, { htu });
    assert.equal((await send({ authorization: `DPoP ${token}`, dpop })).status, 200, htu);
  }
});
