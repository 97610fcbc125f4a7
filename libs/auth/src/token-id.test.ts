import assert from "node:assert/strict";
import { test } from "node:test";

import { createTokenId, isIssuedBefore } from "./token-id.ts";

const AT = 1_780_000_000_500;
const iat = Math.floor(AT / 1000);

test("a token identifier tells the millisecond, within a second as across it", () => {
  const jti = createTokenId(AT);
  assert.match(jti, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(jti, createTokenId(AT));
  assert.equal(isIssuedBefore({ jti, iat }, AT - 1), false);
  assert.equal(isIssuedBefore({ jti, iat }, AT), true);
  // What was read before the change is from before it, although the token was signed in a later second.
  assert.equal(isIssuedBefore({ jti, iat: iat + 1 }, AT + 100), true);
});

test("without such an identifier the whole second counts as before", () => {
  for (const jti of [undefined, "", "x", "8f1f6f0c-6f0e-4a52-9d0c-0d5bb6a5a1ad"]) {
    const token = { ...(jti !== undefined && { jti }), iat };
    assert.equal(isIssuedBefore(token, AT - 400), true, jti);
    assert.equal(isIssuedBefore(token, iat * 1000 - 1), false, jti);
  }
  assert.equal(isIssuedBefore({}, AT), true);
});

test("an identifier whose time is not that of the token says nothing", () => {
  assert.equal(isIssuedBefore({ jti: createTokenId(AT + 60_000), iat }, AT), true);
  assert.equal(isIssuedBefore({ jti: createTokenId(1), iat }, iat * 1000 - 1), false);
});
