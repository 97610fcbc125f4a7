import assert from "node:assert/strict";
import { test } from "node:test";

import { createSealer } from "./seal.ts";

test("what is sealed opens with the same secret, purpose and context alone", () => {
  const sealer = createSealer("secret", "logins");
  const sealed = sealer.seal("pässword", "https://a.example");
  assert.equal(sealer.open(sealed, "https://a.example"), "pässword");
  assert.equal(sealed.includes("password"), false);
  assert.notEqual(sealer.seal("pässword", "https://a.example"), sealed);
  assert.equal(sealer.open(sealed, "https://b.example"), undefined);
  assert.equal(createSealer("other", "logins").open(sealed, "https://a.example"), undefined);
  assert.equal(createSealer("secret", "other").open(sealed, "https://a.example"), undefined);
  assert.equal(sealer.open(`A${sealed.slice(1)}`, "https://a.example") === "pässword" && sealed[0] !== "A", false);
  assert.equal(sealer.open("", ""), undefined);
});
