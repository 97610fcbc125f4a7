import assert from "node:assert/strict";
import { test } from "node:test";

import { createBackOff } from "./back-off.ts";

test("pauses grow by the factor up to the longest one, spread to both sides", () => {
  for (const [firstSeconds, maxSeconds, factor] of [
    [1, 300, 2],
    [1, 900, 3],
    [0.5, 5, 2],
    [10, 21_600, 3],
  ] as const) {
    const backOff = createBackOff({ firstSeconds, maxSeconds, factor });
    let before = 0;
    for (let attempts = 1; attempts <= 2000; attempts++) {
      const middle = backOff(attempts, () => 0.5);
      assert.equal(middle, Math.min(maxSeconds, firstSeconds * factor ** (attempts - 1)));
      assert.ok(middle >= before);
      before = middle;
      assert.equal(
        backOff(attempts, () => 0),
        middle * 0.75,
      );
      assert.ok(backOff(attempts, () => 1) <= middle * 1.25);
    }
  }
});

test("the last attempt is not followed by another one", () => {
  const backOff = createBackOff({ firstSeconds: 1, maxSeconds: 10, maxAttempts: 3 });
  assert.deepEqual(
    [1, 2, 3, 4].map((attempts) => backOff(attempts, () => 0.5)),
    [1, 2, undefined, undefined],
  );
});
