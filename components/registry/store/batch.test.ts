import assert from "node:assert/strict";
import { test } from "node:test";

import { createBatch } from "./batch.ts";

test("keys that come together, or while a query runs, are looked up together; a failure is of its own batch", async () => {
  const response: (readonly number[])[] = [];
  const find = createBatch<number, number>(async (keys) => {
    response.push(keys);
    await new Promise((resolve) => setImmediate(resolve));
    if (keys.includes(0)) {
      throw new Error("none");
    }
    return keys.map((key) => key * 2);
  });
  const first = [find(1), find(2)];
  assert.deepEqual(await Promise.all(first), [2, 4]);
  const failing = find(0);
  await assert.rejects(failing, /none/);
  const many = Array.from({ length: 450 }, (_, index) => find(index + 1));
  assert.equal((await Promise.all(many)).at(-1), 900);
  assert.deepEqual(
    response.map(({ length }) => length),
    [2, 1, 200, 200, 50],
  );
});
