import assert from "node:assert/strict";
import { test } from "node:test";

import { describeRun, withoutCounts } from "./run-summary.ts";

const result = (file: string, seconds: number, tests: number) => ({
  file,
  seconds,
  passed: true,
  output: `✔ works (3ms)\nℹ measured: 4 ms\nℹ tests ${tests}\nℹ pass ${tests}\nℹ fail 0\nℹ duration_ms 12.5\n`,
});

test("adds the counts of all files and lists the slowest first", () => {
  const text = describeRun([result("a.test.ts", 2, 3), result("b.test.ts", 40, 4)]);
  assert.match(text, /^ℹ tests 7\nℹ pass 7\nℹ fail 0\n/);
  assert.match(text, /40\.0 s {2}b\.test\.ts\n {5}2\.0 s {2}a\.test\.ts$/);
});

test("keeps what tests said of themselves", () => {
  assert.equal(withoutCounts(result("a.test.ts", 2, 3).output), "✔ works (3ms)\nℹ measured: 4 ms");
});
