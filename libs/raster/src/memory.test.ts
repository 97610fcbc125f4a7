import assert from "node:assert/strict";
import { test } from "node:test";

import { KeptMemory } from "./memory.ts";

test("memory that was given back is lent again, without what it held", () => {
  const kept = new KeptMemory(1e6);
  const first = kept.lend();
  const array = first.take("uint16", 10_000).fill(7);
  first.giveBack();
  assert.ok(kept.bytes >= 20_000);
  const again = kept.lend().take("float32", 5000);
  assert.equal(again.buffer, array.buffer);
  assert.ok(again.every((value) => value === 0));
  assert.equal(kept.bytes, 0);
});

test("no two calculations have the same memory, nor has one the same twice", () => {
  const kept = new KeptMemory(1e6);
  const before = kept.lend();
  before.take("uint8", 10_000);
  before.giveBack();
  before.giveBack();
  const [one, other] = [kept.lend(), kept.lend()];
  const buffers = [one.take("uint8", 10_000), one.take("uint8", 10_000), other.take("uint8", 10_000)].map(
    ({ buffer }) => buffer,
  );
  assert.equal(new Set(buffers).size, 3);
});

test("no more is kept than allowed, and the last that was given back at that", () => {
  const kept = new KeptMemory(100_000);
  const loan = kept.lend();
  const arrays = Array.from({ length: 10 }, () => loan.take("uint8", 30_000));
  loan.take("uint8", 1_000_000);
  loan.giveBack();
  assert.ok(kept.bytes <= 100_000, `${kept.bytes}`);
  assert.equal(kept.lend().take("uint8", 30_000).buffer, arrays.at(-1)!.buffer);
});

test("memory that is much too large is left for what needs it", () => {
  const kept = new KeptMemory(1e6);
  const loan = kept.lend();
  const large = loan.take("uint8", 500_000);
  loan.giveBack();
  assert.notEqual(kept.lend().take("uint8", 10_000).buffer, large.buffer);
});
