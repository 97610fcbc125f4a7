import assert from "node:assert/strict";
import { test } from "node:test";
import { CwlError } from "../errors.ts";
import { FairQueue } from "./fair-queue.ts";

function openQueue(capacity: number): { queue: FairQueue<number>; used: () => number } {
  let used = 0;
  const queue = new FairQueue<number>({
    fits: (amount) => used + amount <= capacity,
    take: (amount) => (used += amount),
    release: (amount) => (used -= amount),
  });
  return { queue, used: () => used };
}

test("requests are granted in their order, also where a later one would fit, and released once", async () => {
  const { queue, used } = openQueue(3);
  const { signal } = new AbortController();
  const order: string[] = [];
  const release = await queue.acquire(2, signal);
  const large = queue.acquire(3, signal).then((end) => (order.push("large"), end));
  const small = queue.acquire(1, signal).then((end) => (order.push("small"), end));
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  release();
  release();
  (await large)();
  (await small)();
  assert.deepEqual(order, ["large", "small"]);
  assert.equal(used(), 0);
});

test("a request that is given up leaves the queue and lets those behind it in", async () => {
  const { queue, used } = openQueue(3);
  const stop = new AbortController();
  const { signal } = new AbortController();
  const release = await queue.acquire(2, signal);
  const large = queue.acquire(3, stop.signal);
  const small = queue.acquire(1, signal);
  stop.abort();
  await assert.rejects(large, (error) => error instanceof CwlError && error.code === "cancelled");
  (await small)();
  await assert.rejects(queue.acquire(3, stop.signal));
  release();
  assert.equal(used(), 0);
});
