import assert from "node:assert/strict";
import { test } from "node:test";

import { readBearerToken } from "./bearer.ts";

test("RFC 6750 §2.1: the token of an Authorization header", () => {
  assert.equal(readBearerToken("Bearer abc.def-_~+/=="), "abc.def-_~+/==");
  assert.equal(readBearerToken("bearer  abc"), "abc");
  assert.equal(readBearerToken(undefined), undefined);
  assert.equal(readBearerToken("Basic abc"), undefined);
  assert.equal(readBearerToken("Bearerabc"), undefined);
  for (const text of ["Bearer", "Bearer ", "Bearer a b", "Bearer a,Bearer b", "Bearer a\tb"]) {
    assert.equal(readBearerToken(text), "", text);
  }
});
