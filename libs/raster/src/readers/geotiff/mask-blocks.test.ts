import assert from "node:assert/strict";
import { test } from "node:test";

import type { Layout } from "./layout.ts";
import { addressesOfMask, joinMask } from "./mask-blocks.ts";

const [WIDTH, HEIGHT] = [100, 90];
const layoutOf = (blockWidth: number, blockHeight: number) =>
  ({ width: WIDTH, height: HEIGHT, blockWidth, blockHeight }) as Layout;
const isMasked = (x: number, y: number) => (x * 7 + y * 13) % 5 === 0;

/** A block of the mask as it is stored: 0 and 1. */
function storedBlock({ blockWidth, blockHeight }: Layout, column: number, row: number): Uint8Array {
  return Uint8Array.from({ length: blockWidth * blockHeight }, (_, at) =>
    isMasked(column * blockWidth + (at % blockWidth), row * blockHeight + Math.floor(at / blockWidth)) ? 0 : 1,
  );
}

test("a mask with blocks of its own is put together to the blocks of its image", () => {
  for (const image of [layoutOf(100, 16), layoutOf(64, 64), layoutOf(100, 90), layoutOf(48, 80)]) {
    for (const mask of [layoutOf(100, 90), layoutOf(100, 7), layoutOf(32, 48), layoutOf(64, 64), layoutOf(128, 128)]) {
      for (let row = 0; row * image.blockHeight < HEIGHT; row += 1) {
        for (let column = 0; column * image.blockWidth < WIDTH; column += 1) {
          const address = { level: 0, group: 1, column, row };
          const own = addressesOfMask(address, image, mask).map((each) => [storedBlock(mask, each.column, each.row)]);
          const [joined] = joinMask(address, image, mask, own) ?? [];
          for (let y = row * image.blockHeight; y < Math.min(HEIGHT, (row + 1) * image.blockHeight); y += 1) {
            for (let x = column * image.blockWidth; x < Math.min(WIDTH, (column + 1) * image.blockWidth); x += 1) {
              const at = (y - row * image.blockHeight) * image.blockWidth + x - column * image.blockWidth;
              assert.equal(joined?.[at], isMasked(x, y) ? 0 : 255, `${image.blockWidth} ${mask.blockWidth} ${x} ${y}`);
            }
          }
        }
      }
    }
  }
});

test("a mask block that is not stored masks its pixels, one that is beside it does not", () => {
  const [image, mask] = [layoutOf(64, 64), layoutOf(32, 32)];
  const address = { level: 0, group: 1, column: 0, row: 0 };
  assert.equal(
    joinMask(
      address,
      image,
      mask,
      [0, 1, 2, 3].map(() => undefined),
    ),
    undefined,
  );
  const [joined] = joinMask(address, image, mask, [undefined, [new Uint8Array(1024).fill(1)], undefined, undefined])!;
  assert.equal(joined?.[0], 0);
  assert.equal(joined?.[32], 255);
});
