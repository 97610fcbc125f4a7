import assert from "node:assert/strict";
import { test } from "node:test";

import { createBackOff } from "./back-off.ts";

test("the first restart is at once, later ones wait longer, up to a minute", () => {
  const backOff = createBackOff(() => 0);
  assert.deepEqual(
    Array.from({ length: 11 }, () => backOff.next()),
    [0, 250, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000],
  );
});

test("a pod that was ready for a minute starts from the beginning, one that was ready for a moment does not", () => {
  let now = 0;
  const backOff = createBackOff(() => now);
  backOff.next();
  backOff.next();
  backOff.reportReady();
  now = 59_999;
  assert.equal(backOff.next(), 1000);
  backOff.reportReady();
  now = 200_000;
  assert.equal(backOff.next(), 0);
});
