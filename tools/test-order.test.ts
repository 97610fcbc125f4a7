import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LONGEST_FILES, sortLongestFirst } from "./test-order.ts";

test("lists files that exist", () => {
  const missing = LONGEST_FILES.filter((file) => !existsSync(join(import.meta.dirname, "..", file)));
  assert.deepEqual(missing, []);
});

test("puts the longest files first and leaves none out", () => {
  const [longest = "", second = ""] = LONGEST_FILES;
  assert.deepEqual(sortLongestFirst(["a.test.ts", second, "b.test.ts", longest]), [
    longest,
    second,
    "a.test.ts",
    "b.test.ts",
  ]);
});
