import assert from "node:assert/strict";
import { test } from "node:test";

import { shorten } from "./shorten.ts";

test("a short answer is shown as it is", () => {
  assert.equal(shorten("a\nb\n", 80), "a\nb\n");
  assert.equal(shorten("\n", 80), "");
});

test("JSON is indented", () => {
  assert.equal(shorten('{"a":[1]}', 80), '{\n  "a": [\n    1\n  ]\n}\n');
});

test("long lines are cut, many are counted", () => {
  assert.equal(shorten("12345", 4), "123…\n");
  const lines = shorten(Array.from({ length: 40 }, (_, index) => String(index)).join("\n"), 80).split("\n");
  assert.deepEqual([lines.length, lines[9], lines[10]], [12, "9", "… 30 more lines"]);
});
