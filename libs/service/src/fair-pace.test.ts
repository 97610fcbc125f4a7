import assert from "node:assert/strict";
import { test } from "node:test";

import { FairPace } from "./fair-pace.ts";

test("lanes take turns: one that sends many delays the others by a turn at most", async () => {
  const pace = new FairPace({ intervalMs: 5, maxPerLane: 20, maxLanes: 3 });
  const order: string[] = [];
  const take = async (lane: string): Promise<void> => {
    if (await pace.take("address", lane)) {
      order.push(lane);
    }
  };
  await Promise.all([...Array.from({ length: 10 }, () => take("guesser")), take("neighbour")]);
  assert.equal(order.length, 11);
  assert.ok(order.indexOf("neighbour") <= 1, order.join(" "));
});

test("what is beyond the limits is refused at once, and other keys do not wait", async () => {
  const pace = new FairPace({ intervalMs: 20, maxPerLane: 2, maxLanes: 2 });
  const taken = [pace.take("a", "1"), pace.take("a", "1"), pace.take("a", "2")];
  assert.equal(await pace.take("a", "1"), false);
  assert.equal(await pace.take("a", "3"), false);
  assert.equal(await pace.take("b", "3"), true);
  assert.deepEqual(await Promise.all(taken), [true, true, true]);
});
