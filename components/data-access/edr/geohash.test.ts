import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeGeohash, listGeohashes } from "./geohash.ts";

test("cells of geohashes are where other programs have them", () => {
  const [west, south, east, north] = decodeGeohash("u4pruydqqvj")!;
  assert.ok(Math.abs((west + east) / 2 - 10.40744) < 1e-5 && Math.abs((south + north) / 2 - 57.64911) < 1e-5);
  assert.deepEqual(decodeGeohash("s"), [0, 0, 45, 45]);
  assert.deepEqual(decodeGeohash("S"), [0, 0, 45, 45]);
  for (const text of ["", "a", "ezs42!", "u".repeat(13)]) {
    assert.equal(decodeGeohash(text), undefined, text);
  }
});

test("cells of a box cover it, and are as small as their number allows", () => {
  const box = [15.2, 46.3, 15.4, 46.4] as const;
  const cells = listGeohashes(box, 100);
  assert.ok(cells.length > 10 && cells.length <= 100, `${cells.length}`);
  assert.equal(new Set(cells.map((cell) => cell.length)).size, 1);
  for (const [x, y] of [
    [15.2001, 46.3001],
    [15.3, 46.35],
    [15.3999, 46.3999],
  ] as const) {
    const holds = cells.filter((cell) => {
      const [west, south, east, north] = decodeGeohash(cell)!;
      return west <= x && x < east && south <= y && y < north;
    });
    assert.equal(holds.length, 1);
  }
  assert.deepEqual(listGeohashes([-180, -90, 180, 90], 32).length, 32);
  assert.deepEqual(listGeohashes([-180, -90, 180, 90], 1), []);
});
