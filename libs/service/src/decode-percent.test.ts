import assert from "node:assert/strict";
import { test } from "node:test";

import { decodePercent } from "./decode-percent.ts";

test("escapes are decoded, and what is none of them stays as it is", () => {
  assert.equal(decodePercent("a%20b%2Fc"), "a b/c");
  for (const text of ["100%", "%zz", "%e0%a4", "a%"]) {
    assert.equal(decodePercent(text), text);
  }
});
