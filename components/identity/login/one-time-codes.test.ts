import assert from "node:assert/strict";
import { test } from "node:test";

import { findOtpStep, hashRecoveryCode, isOtpSecret, makeOtpSecret, makeRecoveryCodes } from "./one-time-codes.ts";

/** "12345678901234567890" in Base32, of RFC 6238 appendix B; the codes there have eight digits, the last six are these. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test("codes of RFC 6238 appendix B are found with their time step", () => {
  for (const [seconds, code] of [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
  ] as const) {
    assert.equal(findOtpStep(SECRET, code, seconds * 1000), Math.floor(seconds / 30));
    assert.equal(findOtpStep(SECRET, code, (seconds + 30) * 1000), Math.floor(seconds / 30), "one step later");
    assert.equal(findOtpStep(SECRET, code, (seconds + 90) * 1000), undefined, "three steps later");
  }
});

test("what is no code is wrong", () => {
  for (const code of ["", "12345", "1234567", "28708a", "287 082", "２８７０８２"]) {
    assert.equal(findOtpStep(SECRET, code, 59_000), undefined, code);
  }
});

test("secrets and recovery codes are made anew, and codes are read as people type them", () => {
  assert.ok(isOtpSecret(makeOtpSecret()));
  assert.notEqual(makeOtpSecret(), makeOtpSecret());
  const codes = makeRecoveryCodes();
  assert.equal(new Set(codes).size, 10);
  const [code = ""] = codes;
  assert.match(code, /^\w{4}-\w{4}-\w{4}$/);
  assert.equal(hashRecoveryCode(` ${code.toUpperCase().replaceAll("-", " ")} `), hashRecoveryCode(code));
  assert.equal(hashRecoveryCode("287082"), undefined);
});
