import assert from "node:assert/strict";
import { test } from "node:test";

import { toPbkdf2Text, verifyPbkdf2 } from "./imported-hash.ts";

// RFC 6070 (SHA-1), and the same inputs with SHA-256 as in RFC 7914 section 11.
const VECTORS = [
  {
    digest: "sha1",
    iterations: 4096,
    salt: "salt",
    password: "password",
    hash: "4b007901b765489abead49d926f721d065a429c1",
  },
  {
    digest: "sha256",
    iterations: 80_000,
    salt: "NaCl",
    password: "Password",
    hash: "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d",
  },
] as const;

test("passwords fit the published hashes of PBKDF2, and others do not", async () => {
  for (const { digest, iterations, salt, password, hash } of VECTORS) {
    const stored = toPbkdf2Text(digest, iterations, Buffer.from(salt), Buffer.from(hash, "hex"));
    assert.equal(await verifyPbkdf2(stored, password), true, digest);
    assert.equal(await verifyPbkdf2(stored, `${password}1`), false, digest);
  }
});

test("a hash that cannot be read is an error, not a wrong password", async () => {
  for (const stored of [
    "$pbkdf2-md5$i=1$c2FsdA$aGFzaA",
    "$pbkdf2-sha256$i=99999999$c2FsdA$aGFzaA",
    "$pbkdf2-sha256$$",
  ]) {
    await assert.rejects(verifyPbkdf2(stored, "password"), /cannot be read/);
  }
});
