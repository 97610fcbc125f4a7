import assert from "node:assert/strict";
import { test } from "node:test";

import { createSecretCheck, readBearer } from "./secret-check.ts";

test("one secret, or two while it is being changed; none accepts nothing", () => {
  assert.deepEqual(["new", "old", "", "else"].map(createSecretCheck("new", "old")), [true, true, false, false]);
  assert.deepEqual(["new", "old", ""].map(createSecretCheck("new", undefined)), [true, false, false]);
  assert.deepEqual(["", "undefined"].map(createSecretCheck(undefined, "")), [false, false]);
});

test("the token of a bearer", () => {
  assert.equal(readBearer("Bearer abc"), "abc");
  assert.equal(readBearer("bearer abc"), "abc");
  for (const none of [undefined, "", "Basic abc", "Bearer", "Bearer a b"]) {
    assert.equal(readBearer(none), "");
  }
});
