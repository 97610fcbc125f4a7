import assert from "node:assert/strict";
import { test } from "node:test";

import { readyOnce } from "./ready-once.ts";

test("is not ready until the attempt succeeds, and says why", async () => {
  let attempts = 0;
  let isAway = true;
  const ready = readyOnce(
    async () => {
      attempts += 1;
      if (isAway) {
        throw new Error("the issuer is away");
      }
    },
    { retryMs: 0 },
  );
  await assert.rejects(ready(), /the issuer is away/);
  await assert.rejects(ready(), /the issuer is away/);
  isAway = false;
  await ready();
  isAway = true;
  await ready();
  assert.equal(attempts, 3);
});

test("does not attempt more often than the interval", async () => {
  let attempts = 0;
  const ready = readyOnce(
    () => {
      attempts += 1;
      return Promise.reject(new Error("away"));
    },
    { retryMs: 60_000 },
  );
  await assert.rejects(ready(), /away/);
  await assert.rejects(ready(), /away/);
  assert.equal(attempts, 1);
});
