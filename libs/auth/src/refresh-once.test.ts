import assert from "node:assert/strict";
import { test } from "node:test";

import { createRefreshOnce } from "./refresh-once.ts";

test("the same token is refreshed once for all who bring it within half a minute", async () => {
  let now = 0;
  let asked = 0;
  const refresh = createRefreshOnce<number>(() => now);
  const ask = () => Promise.resolve(++asked);
  assert.deepEqual(await Promise.all([refresh("old", ask), refresh("old", ask)]), [1, 1]);
  assert.equal(await refresh("other", ask), 2);
  now = 29_999;
  assert.equal(await refresh("old", ask), 1);
  now = 30_001;
  assert.equal(await refresh("old", ask), 3);
});

test("a failure to ask is no answer: the next one asks again", async () => {
  const refresh = createRefreshOnce<string>();
  await assert.rejects(
    refresh("old", () => Promise.reject(new Error("away"))),
    /away/,
  );
  assert.equal(await refresh("old", () => Promise.resolve("new")), "new");
});
