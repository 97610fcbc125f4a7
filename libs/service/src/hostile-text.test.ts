import assert from "node:assert/strict";
import { test } from "node:test";

import { hasHostileText } from "./hostile-text.ts";

test("NUL and half characters are found wherever they are", () => {
  for (const body of ["a\u0000", ["x", ["\ud800"]], { a: { b: [1, "\udc00x"] } }, { "a\u0000": 1 }]) {
    assert.equal(hasHostileText(body), true, JSON.stringify(body));
  }
  for (const body of ["", "déjà 🛰", [1, null, true], { a: { b: ["\u0001\n"] } }, undefined, Buffer.from([0])]) {
    assert.equal(hasHostileText(body), false, JSON.stringify(body));
  }
});

test("however deep and however long", () => {
  const deep = JSON.parse(`${"[".repeat(5000)}"x"${"]".repeat(5000)}`) as unknown;
  assert.equal(hasHostileText(deep), false);
  assert.equal(hasHostileText([...Array.from({ length: 300_000 }, () => "x"), "\u0000"]), true);
});
