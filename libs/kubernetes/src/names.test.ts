import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, notNumber, toName } from "./names.ts";

test("a label stays as it is", () => {
  assert.equal(toName("resource-catalogue", "tls"), "resource-catalogue-tls");
});

test("what loses something gets a hash, so different names stay different", () => {
  assert.match(toName("Ünicode"), /^nicode-[0-9a-f]{8}$/);
  assert.notEqual(toName("a_b"), toName("a.b"));
  const long = toName("x".repeat(80));
  assert.equal(long.length, 63);
  assert.notEqual(long, toName("x".repeat(81)));
  assert.match(toName("***"), /^x-[0-9a-f]{8}$/);
});

test("a hash does not depend on the order of keys", () => {
  assert.equal(hashOf({ a: 1, b: [{ c: 2, d: 3 }] }), hashOf({ b: [{ d: 3, c: 2 }], a: 1 }));
  assert.notEqual(hashOf({ a: [1, 2] }), hashOf({ a: [2, 1] }));
});

test("no hash is the spelling of a number", () => {
  assert.equal(notNumber("009e5130"), "009f5130");
  assert.equal(notNumber("00ae5130"), "00ae5130");
  assert.equal(notNumber("12345678"), "12345678");
});
