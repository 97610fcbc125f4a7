import assert from "node:assert/strict";
import { test } from "node:test";

import { FailureDelays } from "./failure-delays.ts";

test("counts failures by address and forgets them after a minute", async () => {
  let now = 0;
  const delays = new FailureDelays(() => now);
  await delays.slow("a");
  await delays.slow("a");
  assert.deepEqual([delays.count("a"), delays.count("b")], [2, 0]);
  now = 60_000;
  assert.equal(delays.count("a"), 0);
});

test("delays failures after the fifth, those of other addresses not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const delays = new FailureDelays(() => 0);
  for (let failure = 0; failure < 5; failure += 1) {
    await delays.slow("a");
  }
  let isAnswered = false;
  const sixth = delays.slow("a").then(() => {
    isAnswered = true;
  });
  await delays.slow("b");
  assert.equal(isAnswered, false);
  context.mock.timers.tick(100);
  await sixth;
});
