import assert from "node:assert/strict";
import { test } from "node:test";

import { findHostileText } from "./hostile-text.ts";

test("NUL and half characters are found wherever they are", () => {
  const found: readonly (readonly [unknown, string])[] = [
    ["a\u0000", ""],
    [["x", ["\ud800"]], "1.0"],
    [{ a: { b: [1, "\udc00x"] } }, "a.b.1"],
    [{ a: { "b\u0000": 1 } }, "a name in a"],
    [{ "a\u0000": 1 }, "a name in the body"],
  ];
  for (const [body, path] of found) {
    assert.equal(findHostileText(body), path, JSON.stringify(body));
  }
  for (const body of ["", "déjà 🛰", [1, null, true], { a: { b: ["\u0001\n"] } }, undefined, Buffer.from([0])]) {
    assert.equal(findHostileText(body), undefined, JSON.stringify(body));
  }
});

test("however deep and however long", () => {
  const deep = JSON.parse(`${"[".repeat(5000)}"x"${"]".repeat(5000)}`) as unknown;
  assert.equal(findHostileText(deep), undefined);
  const damaged = JSON.parse(`${"[".repeat(5000)}"\\u0000"${"]".repeat(5000)}`) as unknown;
  assert.equal(findHostileText(damaged)?.length, 201);
  assert.equal(findHostileText([...Array.from({ length: 300_000 }, () => "x"), "\u0000"]), "300000");
});
