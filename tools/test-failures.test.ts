import assert from "node:assert/strict";
import { test } from "node:test";

import { findFailedFiles } from "./test-failures.ts";

test("the files of what failed are found once each, a file that broke off included", () => {
  const text = [
    "failed: going back (to the start) (test/e2e/portal/ways.integration.test.ts:68)",
    "  AssertionError: failed: nothing (libs/other.test.ts:1)",
    "failed: another (test/e2e/portal/ways.integration.test.ts:80)",
    "failed: libs/cwl/src/broken.integration.test.ts (libs/cwl/src/broken.integration.test.ts:1)",
    "failed: without a place",
  ].join("\n");
  assert.deepEqual(findFailedFiles(text), [
    "test/e2e/portal/ways.integration.test.ts",
    "libs/cwl/src/broken.integration.test.ts",
  ]);
});
