import assert from "node:assert/strict";
import { test } from "node:test";

import { toBoxGeometry } from "./box-geometry.ts";

test("cuts a box at the antimeridian", () => {
  const expected = {
    bbox: [170, -10, -175, 10],
    geometry: {
      type: "MultiPolygon",
      coordinates: [
        [
          [
            [170, -10],
            [180, -10],
            [180, 10],
            [170, 10],
            [170, -10],
          ],
        ],
        [
          [
            [-180, -10],
            [-175, -10],
            [-175, 10],
            [-180, 10],
            [-180, -10],
          ],
        ],
      ],
    },
  };
  assert.deepEqual(toBoxGeometry([170, -10, 185, 10]), expected);
  assert.deepEqual(toBoxGeometry([170, -10, -175, 10]), expected);
});

test("leaves other boxes whole", () => {
  assert.deepEqual(toBoxGeometry([15, 46, 16, 47]).bbox, [15, 46, 16, 47]);
  assert.deepEqual(toBoxGeometry([0, -90, 360, 90]).bbox, [-180, -90, 180, 90]);
  assert.match(JSON.stringify(toBoxGeometry([-180, -90, 180, 90]).geometry), /"Polygon"/);
});
