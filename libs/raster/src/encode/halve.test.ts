import assert from "node:assert/strict";
import { test } from "node:test";

import { halvePlanes } from "./halve.ts";

test("nearest takes the first of four pixels, also at odd edges", () => {
  const plane = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
  assert.deepEqual(halvePlanes([plane], undefined, { width: 3, rows: 3 }), [Uint8Array.of(1, 3, 7, 9)]);
});

test("average leaves out missing pixels, and stays missing where all are", () => {
  const options = { width: 4, rows: 2, overviews: "average", nodata: -9999.1 } as const;
  const plane = Float32Array.of(1, -9999.1, -9999.1, -9999.1, 2, Number.NaN, -9999.1, -9999.1);
  assert.deepEqual(halvePlanes([plane], undefined, options), [Float32Array.of(1.5, -9999.1)]);
});

test("average rounds integers and takes what there is at odd edges", () => {
  const options = { width: 3, rows: 1, overviews: "average" } as const;
  assert.deepEqual(halvePlanes([Uint16Array.of(1, 2, 7)], undefined, options), [Uint16Array.of(2, 7)]);
});

test("average follows a mask, and gives one", () => {
  const options = { width: 4, rows: 1, overviews: "average" } as const;
  const mask = Uint8Array.of(0, 255, 0, 0);
  assert.deepEqual(halvePlanes([Uint8Array.of(9, 5, 3, 4)], mask, options), [
    Uint8Array.of(5, 3),
    Uint8Array.of(255, 0),
  ]);
});
