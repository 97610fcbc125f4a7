import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestEvent } from "node:test/reporters";

import listFailures, { findFailedFiles, hasUncaughtError } from "./test-failures.ts";

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

test("reports an error that nothing caught as a failure of its file", async () => {
  const message =
    'Error: Test hook "before" at libs/a.test.ts:14:1 generated asynchronous activity after the test ended. This activity created the error "TypeError: no" and would have caused the test to fail, but instead triggered an unhandledRejection event.';
  const events = async function* () {
    yield { type: "test:diagnostic", data: { message, file: "libs/a.test.ts", line: 14 } } as unknown as TestEvent;
    yield { type: "test:diagnostic", data: { message: "tests 3" } } as unknown as TestEvent;
  };
  let text = "";
  for await (const piece of listFailures(events())) {
    text += piece;
  }
  assert.ok(hasUncaughtError(text));
  assert.ok(!hasUncaughtError(""));
  assert.deepEqual(findFailedFiles(text), ["libs/a.test.ts"]);
});
