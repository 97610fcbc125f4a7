import assert from "node:assert/strict";
import { test } from "node:test";

import { dropTrailingCommas } from "./lenient-json.ts";

test("drops commas before closing brackets and leaves texts alone", () => {
  for (const [text, expected] of [
    ['{"a": ["x", "y",], "b": 1,}', '{"a": ["x", "y"], "b": 1}'],
    ['{"a": [1,\n  ],\n}', '{"a": [1\n  ]\n}'],
    ['{"a": "x,]", "b": "\\",]"}', '{"a": "x,]", "b": "\\",]"}'],
    ["[,]", "[]"],
    ['"open ,]', '"open ,]'],
  ] as const) {
    assert.equal(dropTrailingCommas(text), expected);
  }
});

test("takes time in proportion to the length of a hostile text", () => {
  const started = process.cpuUsage().user;
  dropTrailingCommas(`"${"\\".repeat(200_001)}`);
  dropTrailingCommas(`"${'\\"'.repeat(200_000)}\\`);
  dropTrailingCommas(`${", ".repeat(200_000)}`);
  dropTrailingCommas(`${'"'.repeat(200_001)}`);
  assert.ok(process.cpuUsage().user - started < 2_000_000, "two seconds of processor time");
});
