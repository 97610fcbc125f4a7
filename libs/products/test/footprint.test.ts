import assert from "node:assert/strict";
import { test } from "node:test";

import { toFootprint } from "../src/footprint.ts";
import { findInstant, toUtc } from "../src/instants.ts";

test("a ring is closed and turned counterclockwise", () => {
  const { geometry, bbox } = toFootprint([
    [0, 0],
    [0, 1],
    [1, 1],
    [1, 0],
  ]);
  assert.deepEqual(geometry, {
    type: "Polygon",
    coordinates: [
      [
        [1, 0],
        [1, 1],
        [0, 1],
        [0, 0],
        [1, 0],
      ],
    ],
  });
  assert.deepEqual(bbox, [0, 0, 1, 1]);
});

test("a ring across the antimeridian is cut there, and west is greater than east", () => {
  const { geometry, bbox } = toFootprint([
    [179, 10],
    [-179, 10],
    [-179, 11],
    [179, 11],
  ]);
  assert.deepEqual(bbox, [179, 10, -179, 11]);
  assert.equal(geometry.type, "MultiPolygon");
  for (const [ring] of geometry.coordinates as number[][][][]) {
    const longitudes = (ring ?? []).map(([longitude = 0]) => longitude);
    assert.ok(longitudes.every((each) => each >= 179) || longitudes.every((each) => each <= -179), longitudes.join());
  }
});

test("what is no footprint is an error", () => {
  assert.throws(
    () =>
      toFootprint([
        [0, 0],
        [1, 1],
      ]),
    /2 corners/,
  );
  assert.throws(
    () =>
      toFootprint([
        [0, 0],
        [1, 100],
        [2, 2],
      ]),
    /no longitude and latitude/,
  );
});

test("dates in names and texts", () => {
  assert.equal(findInstant("S2B_33TWM_20230813_0_L2A"), "2023-08-13T00:00:00Z");
  assert.equal(findInstant("2023:08:13 10:05:59"), "2023-08-13T10:05:59Z");
  assert.equal(findInstant("tile_99999999"), undefined);
  assert.equal(toUtc("2020-12-04T19:02:11.1944860Z"), "2020-12-04T19:02:11.194486Z");
  assert.equal(toUtc("2020-12-04T20:02:11+01:00"), "2020-12-04T19:02:11.000Z");
});
