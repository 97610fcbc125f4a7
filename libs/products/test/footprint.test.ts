import assert from "node:assert/strict";
import { test } from "node:test";

import { type DescribedRaster, parseCrs } from "@swath/raster";

import { toFootprint } from "../src/footprint.ts";
import { findInstant, toUtc } from "../src/instants.ts";
import { toRasterFootprint } from "../src/raster-item.ts";

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

/** No three of them on a line: corners on a line between others are left out. */
const LATITUDES = [80, 82, 81, 83];

test("a ring around a pole has the pole inside", () => {
  for (const pole of [90, -90]) {
    const sign = Math.sign(pole);
    // Eastwards and westwards, from several longitudes on.
    for (const longitudes of [
      [0, 90, 180, -90],
      [45, 135, -135, -45],
      [-45, -135, 135, 45],
      [170, -100, -10, 80],
    ]) {
      const { geometry, bbox } = toFootprint(
        longitudes.map((longitude, index) => [longitude, sign * (LATITUDES[index] ?? 0)]),
      );
      assert.deepEqual(bbox, pole > 0 ? [-180, 80, 180, 90] : [-180, -90, 180, -80], longitudes.join());
      const [ring = []] = geometry.coordinates as number[][][];
      assert.equal(geometry.type, "Polygon");
      assert.ok(ring.some(([x, y]) => x === 180 && y === pole) && ring.some(([x, y]) => x === -180 && y === pole));
      for (const longitude of longitudes) {
        assert.ok(
          ring.some(([x]) => x === longitude || (longitude === 180 && x === -180)),
          JSON.stringify(ring),
        );
      }
      let area = 0;
      for (const [index, [x = 0, y = 0]] of ring.slice(0, -1).entries()) {
        const [nextX = 0, nextY = 0] = ring[index + 1] ?? [];
        area += (x * nextY - nextX * y) / 2;
      }
      assert.ok(area > 360 * 5 && area < 360 * 10, `counterclockwise, of the cap's size: ${area}`);
    }
  }
});

test("a corner at the pole reaches the longitudes of its neighbours; what goes around the world is a box", () => {
  const { geometry, bbox } = toFootprint([
    [0, 90],
    [90, 85],
    [45, 83],
    [0, 85],
  ]);
  assert.deepEqual(bbox, [0, 83, 90, 90]);
  const [ring = []] = geometry.coordinates as number[][][];
  assert.ok(ring.some(([x, y]) => x === 90 && y === 90) && ring.some(([x, y]) => x === 0 && y === 90));
  const around = [-180, -90, 0, 90, 180];
  const world = toFootprint([
    ...around.map((x): [number, number] => [x, -60]),
    ...around.toReversed().map((x): [number, number] => [x, 60]),
  ]);
  assert.deepEqual(world.bbox, [-180, -60, 180, 60]);
  const shifted = [0, 90, 180, 270, 360];
  const other = toFootprint([
    ...shifted.map((x): [number, number] => [x, -60]),
    ...shifted.toReversed().map((x): [number, number] => [x, 60]),
  ]);
  assert.deepEqual(other.bbox, [-180, -60, 180, 60]);
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

test("rasters around the pole, across the antimeridian and around the world", () => {
  const cases: readonly (readonly [string, readonly number[], readonly [number, number], readonly number[]])[] = [
    ["EPSG:3413", [10_000, 0, -1_000_000, 0, -10_000, 1_000_000], [200, 200], [-180, 77, 180, 90]],
    ["EPSG:3031", [5000, 0, 0, 0, -10_000, 1_000_000], [200, 100], [0, -90, 90, -77]],
    ["EPSG:4326", [1, 0, 0, 0, -1, 90], [360, 180], [-180, -90, 180, 90]],
    ["EPSG:4326", [1, 0, -180, 0, -1, 90], [360, 180], [-180, -90, 180, 90]],
    ["EPSG:4326", [1, 0, -100, 0, -1, 60], [220, 120], [-100, -60, 120, 60]],
    ["EPSG:32601", [1000, 0, 200_000, 0, -1000, 6_000_000], [100, 100], [178.4, 53.2, -180, 54.1]],
  ];
  for (const [code, transform, [width, height], expected] of cases) {
    const described = { info: { width, height, transform }, crs: parseCrs(code) } as unknown as DescribedRaster;
    const { bbox, geometry } = toRasterFootprint(described);
    bbox.forEach((value, index) =>
      assert.ok(Math.abs(value - (expected[index] ?? 0)) < 0.1, `${code}: ${bbox.join()} for ${expected.join()}`),
    );
    const [west = 0, , east = 0] = bbox;
    assert.equal(geometry.type, west > east ? "MultiPolygon" : "Polygon");
  }
});
