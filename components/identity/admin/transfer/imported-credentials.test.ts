import assert from "node:assert/strict";
import { test } from "node:test";

import { readImportedCredential } from "./imported-credentials.ts";

const SALT = Buffer.from("0123456789abcdef").toString("base64");
const HASH = Buffer.alloc(32, 7).toString("base64");
const credential = (credentialData: object, secretData: object = { value: HASH, salt: SALT }, type = "password") => ({
  type,
  secretData: JSON.stringify(secretData),
  credentialData: JSON.stringify(credentialData),
});
const argon2 = (more: object = {}) => ({
  hashIterations: 5,
  algorithm: "argon2",
  additionalParameters: {
    hashLength: ["32"],
    memory: ["7168"],
    type: ["id"],
    version: ["1.3"],
    parallelism: ["1"],
    ...more,
  },
});

test("hashes of Keycloak become the texts that logins compare with", () => {
  const text = (source: object) => {
    const read = readImportedCredential(source as Record<string, unknown>);
    return read.kind === "hash" ? read.hash : read.kind;
  };
  assert.match(text(credential({ hashIterations: 27_500, algorithm: "pbkdf2-sha256" })), /^\$pbkdf2-sha256\$i=27500\$/);
  assert.match(
    text(credential({ hashIterations: 210_000, algorithm: "pbkdf2-sha512" })),
    /^\$pbkdf2-sha512\$i=210000\$/,
  );
  assert.match(text(credential({ hashIterations: 20_000, algorithm: "pbkdf2" })), /^\$pbkdf2-sha1\$i=20000\$/);
  assert.match(text(credential(argon2())), /^\$argon2id\$v=19\$m=7168,t=5,p=1\$[^=]+\$[^=]+$/);
});

test("what would make a login dear, or cannot be read, is refused in words", () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [credential({ hashIterations: 50_000_000, algorithm: "pbkdf2-sha256" }), /50000000 iterations/],
    [credential({ hashIterations: -1, algorithm: "pbkdf2-sha256" }), /-1 iterations/],
    [credential(argon2({ memory: ["99999999"] })), /parameters of argon2/],
    [credential(argon2({ type: ["x"] })), /parameters of argon2/],
    [credential({ hashIterations: 10, algorithm: "bcrypt" }), /bcrypt/],
    [credential(argon2(), { value: "!", salt: SALT }), /cannot be read/],
    [{ type: "password", secretData: "{", credentialData: "{}" }, /lacks secretData/],
    [{ type: "password" }, /lacks secretData/],
    [credential({}, {}, "webauthn"), /webauthn are not taken over/],
    [credential({ subType: "hotp", digits: 6 }, { value: "abcdefghij0123456789" }, "otp"), /another kind/],
    [credential({ subType: "totp", digits: 8 }, { value: "abcdefghij0123456789" }, "otp"), /8 digits/],
    [credential({ subType: "totp", secretEncoding: "BASE32" }, { value: "abcdefghij01" }, "otp"), /not Base32/],
  ];
  for (const [source, why] of refused) {
    const read = readImportedCredential(source as Record<string, unknown>);
    assert.ok(read.kind === "unsupported", JSON.stringify(source));
    assert.match(read.why, why);
  }
});

test("secrets of one-time codes are texts of the key itself, or Base32 where that is said", () => {
  const secretOf = (settings: object, value: string) => {
    const read = readImportedCredential(credential({ subType: "totp", digits: 6, ...settings }, { value }, "otp"));
    return read.kind === "otp" ? read.secret : read;
  };
  // RFC 6238, appendix B: the key "12345678901234567890".
  assert.equal(secretOf({}, "12345678901234567890"), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  assert.equal(
    secretOf({ secretEncoding: "BASE32" }, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"),
    "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
  );
});
