import assert from "node:assert/strict";
import { test } from "node:test";

import { loadCommonPasswords } from "./common-passwords.ts";

test("refuses passwords of known breaches, also with a number or lookalikes", async () => {
  const isCommon = await loadCommonPasswords();
  for (const password of [
    "12345678",
    "password",
    "password1234",
    "Password2026!",
    "P@ssw0rd",
    "p4ssw0rd!!",
    "changeme",
    "qwertyuiop",
    "iloveyou99",
    "aaaaaaaaaaaa",
    "abcabcabcabc",
    "12341234",
    "ERIC2026",
    "ericeric",
  ]) {
    assert.equal(isCommon(password, "eric"), true, password);
  }
});

test("takes passwords that only contain a common word", async () => {
  const isCommon = await loadCommonPasswords();
  for (const password of [
    "carols password",
    "changeme-too-please",
    "korrekt pferd batterie",
    "gHj7kLmQ2x",
    "boss-password",
    "another one",
    "パスワードではない",
    "x7".repeat(100) + "y",
  ]) {
    assert.equal(isCommon(password, "eric"), false, password);
  }
});

test("a long hostile password takes no time to look at", async () => {
  const isCommon = await loadCommonPasswords();
  for (const password of ["1!".repeat(128), "p@$$w0rd".repeat(32), " ".repeat(256), `${"1".repeat(255)}a`]) {
    isCommon(password, "eric");
  }
});
