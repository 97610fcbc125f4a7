import assert from "node:assert/strict";
import { test } from "node:test";

import { createMask } from "./mask.ts";

test("secrets are masked in every spelling, the longest first, short texts left alone", () => {
  const mask = createMask(["se cret/1", "secret-of-two", "secret-of", 'quo"ted"', "abc"]);
  assert.equal(mask("a se cret/1 b se%20cret%2F1 c"), "a ******** b ******** c");
  assert.equal(mask("secret-of-two secret-of"), "******** ********");
  assert.equal(mask('{"x":"quo\\"ted\\""}'), '{"x":"********"}');
  assert.equal(mask("abc"), "abc");
});
