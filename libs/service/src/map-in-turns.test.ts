import assert from "node:assert/strict";
import { test } from "node:test";

import { mapInTurns } from "./map-in-turns.ts";

test("maps in order and lets others have their turn", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const spend = (value: number) => {
    const until = performance.now() + 3;
    while (performance.now() < until) {
      // As long work does.
    }
    return value * 2;
  };
  assert.deepEqual(await mapInTurns([1, 2, 3, 4, 5, 6, 7, 8], spend), [2, 4, 6, 8, 10, 12, 14, 16]);
  clearInterval(timer);
  assert.ok(turns >= 2, `${turns} turns`);
});

test("ends at the first error", async () => {
  let mapped = 0;
  await assert.rejects(
    mapInTurns([1, 2, 3], (value) => {
      mapped += 1;
      if (value === 2) {
        throw new Error("two");
      }
    }),
    /two/,
  );
  assert.equal(mapped, 2);
});
