import { type CryptoKey, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";

import { openIssuer } from "./issuer.ts";
import { IssuerUnavailableError, type TokenErrorCode } from "./token-error.ts";
import { type TokenVerifier, createTokenVerifier } from "./verifier.ts";

const ISSUER = "https://identity.example.org/realms/master";

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}
const makeKey = async (kid: string): Promise<Key> => ({
  kid,
  ...(await generateKeyPair("RS256", { extractable: true })),
});
const [first, second, third, stranger] = await Promise.all([
  makeKey("first"),
  makeKey("second"),
  makeKey("third"),
  makeKey("first"),
]);

/** A provider reached on a unix socket, as on the embedded cluster, that calls itself by its public name. */
const folder = mkdtempSync(join(tmpdir(), "swath-auth-"));
const socket = join(folder, "identity.sock");
let published: readonly Key[] = [];
let seenHosts: (string | undefined)[] = [];
let keyReads = 0;
let down = false;
async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  seenHosts.push(request.headers.host);
  if (down) {
    response.writeHead(503).end();
  } else if (request.url === "/realms/master/.well-known/openid-configuration") {
    response.end(JSON.stringify({ issuer: ISSUER, jwks_uri: `${ISSUER}/protocol/openid-connect/certs` }));
  } else if (request.url === "/realms/master/protocol/openid-connect/certs") {
    keyReads += 1;
    const keys = await Promise.all(
      published.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" })),
    );
    response.end(JSON.stringify({ keys: [{ kty: "oct", kid: "shared", k: "c2VjcmV0" }, ...keys] }));
  } else {
    response.writeHead(404).end();
  }
}
const server = createServer((request, response) => void reply(request, response));
await new Promise<void>((resolve) => server.listen(socket, resolve));

let now = Date.parse("2026-05-04T10:00:00Z");
const issuer = () =>
  openIssuer({ issuer: ISSUER, peerUrl: `http+unix://${encodeURIComponent(socket)}`, clock: () => now });
const opened: ReturnType<typeof issuer>[] = [];
let verifier: TokenVerifier;

beforeEach(() => {
  now = Date.parse("2026-05-04T10:00:00Z");
  published = [first];
  seenHosts = [];
  keyReads = 0;
  down = false;
  const way = issuer();
  opened.push(way);
  verifier = createTokenVerifier({ issuer: way, clock: () => now });
});
after(async () => {
  await Promise.all(opened.map((way) => way.close()));
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

interface Draft {
  readonly key?: Key;
  readonly claims?: Record<string, unknown>;
  readonly type?: string;
  readonly seconds?: number;
}
function sign({ key = first, claims = {}, type = "JWT", seconds = 300 }: Draft = {}): Promise<string> {
  const at = Math.floor(now / 1000);
  return new SignJWT({
    iss: ISSUER,
    sub: "1",
    iat: at,
    exp: at + seconds,
    aud: "account",
    azp: "portal",
    typ: "Bearer",
    preferred_username: "eric",
    realm_access: { roles: ["user"] },
    ...claims,
  })
    .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: type })
    .sign(key.privateKey);
}
const refuses = (token: string, code: TokenErrorCode, options = {}) =>
  assert.rejects(verifier.verify(token, options), (error: Error) => {
    assert.equal("code" in error && error.code, code, error.message);
    return true;
  });

describe("a token of the issuer", () => {
  test("is accepted, with who it speaks of, over a peer address that is not the issuer's own", async () => {
    const { identity, claims } = await verifier.verify(await sign());
    assert.equal(identity.username, "eric");
    assert.deepEqual(identity.realmRoles, ["user"]);
    assert.equal(claims.azp, "portal");
    assert.deepEqual(new Set(seenHosts), new Set(["identity.example.org"]));
  });

  test("is recalled without a look at its signature until it ends", async () => {
    const token = await sign({ seconds: 20 });
    assert.equal(verifier.recall(token), undefined);
    await verifier.verify(token);
    assert.equal(verifier.recall(token)?.identity.userId, "1");
    assert.equal(verifier.recall(token, { audiences: ["other"] }), undefined);
    now += 26_000;
    assert.equal(verifier.recall(token), undefined);
    await refuses(token, "EXPIRED");
  });

  test("is still readable for a while when the caller asks whose it was", async () => {
    const token = await sign({ seconds: 20 });
    now += 100_000;
    await refuses(token, "EXPIRED");
    const { claims } = await verifier.verify(token, { acceptExpiredFor: 3_600_000 });
    assert.equal(claims.azp, "portal");
    await refuses(token, "EXPIRED");
  });
});

describe("what is refused", () => {
  test("alg none, in every spelling", async () => {
    const none = new UnsecuredJWT({ sub: "1", typ: "Bearer" }).setIssuer(ISSUER).setExpirationTime("1h").encode();
    await refuses(none, "ALGORITHM");
    const [, payload] = none.split(".");
    for (const alg of ["none", "None", "NONE", ""]) {
      const header = Buffer.from(JSON.stringify({ alg, kid: "first" })).toString("base64url");
      await assert.rejects(verifier.verify(`${header}.${payload}.`), { name: "TokenError" });
      await assert.rejects(verifier.verify(`${header}.${payload}.AAAA`), { name: "TokenError" });
    }
  });

  test("HS256 keyed with the public key, or with a symmetric key the issuer published by mistake", async () => {
    const pem = new TextEncoder().encode(await exportSPKI(first.publicKey));
    for (const [kid, secret] of [
      ["first", pem],
      ["shared", Buffer.from("secret")],
    ] as const) {
      const token = await new SignJWT({ sub: "1" })
        .setProtectedHeader({ alg: "HS256", kid })
        .setIssuer(ISSUER)
        .setExpirationTime("1h")
        .sign(secret);
      await refuses(token, "ALGORITHM");
    }
  });

  test("a stranger's key under a known key id, and keys the token brings along", async () => {
    await refuses(await sign({ key: stranger }), "SIGNATURE");
    const embedded = await new SignJWT({ sub: "1" })
      .setProtectedHeader({ alg: "RS256", jwk: await exportJWK(stranger.publicKey), jku: "http://127.0.0.1:1/keys" })
      .setIssuer(ISSUER)
      .setExpirationTime("1h")
      .sign(stranger.privateKey);
    await refuses(embedded, "SIGNATURE");
  });

  test("expired, not yet valid, of another issuer, for another audience, without an end", async () => {
    await refuses(await sign({ seconds: -10 }), "EXPIRED");
    await refuses(await sign({ claims: { nbf: Math.floor(now / 1000) + 60 } }), "NOT_YET_VALID");
    await refuses(await sign({ claims: { iss: `${ISSUER}/` } }), "ISSUER");
    await refuses(await sign({ claims: { aud: ["other"] } }), "AUDIENCE", { audiences: ["account", "ades"] });
    await refuses(await sign({ claims: { aud: undefined } }), "AUDIENCE", { audiences: ["ades"] });
    await verifier.verify(await sign({ claims: { aud: undefined } }), { audiences: ["portal"] });
    await refuses(await sign({ claims: { exp: undefined } }), "MALFORMED");
    await refuses(await sign({ claims: { exp: "never" } }), "MALFORMED");
  });

  test("tokens of other kinds: ID, refresh, logout", async () => {
    for (const typ of ["ID", "Refresh", "Offline", "Logout"]) {
      await refuses(await sign({ claims: { typ } }), "KIND");
    }
    await refuses(await sign({ type: "logout+jwt" }), "KIND");
    await verifier.verify(await sign({ type: "at+jwt" }));
  });

  test("texts that are no tokens", async () => {
    for (const text of ["", ".", "..", "a.b.c", "x".repeat(20_000), "eyJhbGciOiJSUzI1NiJ9.e30", "é.é.é"]) {
      await assert.rejects(verifier.verify(text), { name: "TokenError" }, text.slice(0, 20));
    }
    await refuses(await sign({ claims: { sub: "" } }), "MALFORMED");
    await refuses(await sign({ claims: { preferred_username: { toString: "x" } } }), "MALFORMED");
  });
});

describe("keys", () => {
  test("a new key is found when the first token names it; the old one keeps working while it is published", async () => {
    const old = await sign();
    await verifier.verify(old);
    published = [second, first];
    now += 3000;
    await verifier.verify(await sign({ key: second }));
    await verifier.verify(await sign());
    assert.equal(keyReads, 2);
  });

  test("a withdrawn key verifies nothing more, nor what was remembered of it", async () => {
    const old = await sign();
    await verifier.verify(old);
    published = [second];
    verifier.keys.expire();
    await verifier.verify(await sign({ key: second }));
    assert.equal(verifier.recall(old), undefined);
    await refuses(old, "KEY_UNKNOWN");
  });

  test("tokens with made-up key ids do not make it read the keys again and again", async () => {
    await verifier.verify(await sign());
    now += 10_000;
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, count) => sign({ key: { ...stranger, kid: `made-up-${count}` } })),
    );
    await Promise.all(tokens.map((token) => refuses(token, "KEY_UNKNOWN")));
    assert.equal(keyReads, 2);
  });

  test("a token with a key that is newer than the last reading is accepted, however recent that was", async () => {
    await verifier.verify(await sign());
    published = [second, first];
    await verifier.verify(await sign({ key: second }));
    // And again within the same moment.
    published = [third, second, first];
    await verifier.verify(await sign({ key: third }));
    assert.equal(keyReads, 3);
  });

  test("an issuer that is away for a while stops nothing; one that never answered says so", async () => {
    await verifier.verify(await sign());
    down = true;
    now += 400_000;
    await verifier.verify(await sign());
    const way = issuer();
    opened.push(way);
    await assert.rejects(createTokenVerifier({ issuer: way }).verify(await sign()), IssuerUnavailableError);
    now += 3_600_001;
    await assert.rejects(verifier.verify(await sign()), IssuerUnavailableError);
  });
});
