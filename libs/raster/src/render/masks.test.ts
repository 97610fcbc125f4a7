import assert from "node:assert/strict";
import { test } from "node:test";

import { isClear, isFull, uniteInto } from "./masks.ts";

test("masks are full or clear to their last pixel, wherever they begin", () => {
  for (const offset of [0, 1, 4]) {
    const mask = new Uint8Array(new ArrayBuffer(64), offset, 35);
    assert.equal(isClear(mask), true);
    assert.equal(isFull(mask), false);
    for (const at of [0, 17, 34]) {
      mask.fill(0);
      mask[at] = 1;
      assert.equal(isClear(mask), false, `${offset} ${at}`);
      mask.fill(255);
      assert.equal(isFull(mask), true);
      mask[at] = 254;
      assert.equal(isFull(mask), false, `${offset} ${at}`);
    }
  }
});

test("united masks have the greater one of each pixel", () => {
  const values = [0, 255, 128, 1];
  const random = (length: number, offset: number) =>
    new Uint8Array(new ArrayBuffer(length + offset), offset, length).map(() => values[Math.floor(Math.random() * 4)]!);
  for (let turn = 0; turn < 200; turn += 1) {
    const length = 1 + Math.floor(Math.random() * 40);
    const [target, other] = [random(length, turn % 3), random(length, 0)];
    const expected = target.map((value, at) => Math.max(value, other[at]!));
    uniteInto(target, other);
    assert.deepEqual(target, expected);
  }
});
