import assert from "node:assert/strict";
import { test } from "node:test";

import { parseCrs } from "./crs.ts";
import { createPixelMap } from "./pixel-map.ts";
import { createReproject } from "./reproject.ts";

const WHOLE = { ratioX: 1, ratioY: 1, originX: 0, originY: 0, every: 1 };
const SIZE = 256;

/** Places of pixels in metres of Web Mercator: the west edge, the north edge and the side of a square. */
const cases = [
  // Conformal projections, whose errors in the centres of cells cancel.
  { system: "EPSG:32621", resolution: 100, square: [-6_418_264, 12_523_442, 156_543] },
  { system: "EPSG:32633", resolution: 10, square: [1_721_973, 5_870_363, 78_271] },
  { system: "EPSG:32633", resolution: 10, square: [1_252_344, 6_261_721, 1_252_344] },
  { system: "EPSG:3413", resolution: 30, square: [-5_009_377, 11_271_098, 1_252_344] },
  // Others.
  { system: "EPSG:3035", resolution: 25, square: [1_252_344, 7_514_065, 1_252_344] },
  { system: "OGC:CRS84", resolution: 0.002, square: [0, 10_018_754, 5_009_377] },
  // The whole world, with edges of projections, poles and their surroundings.
  { system: "EPSG:3031", resolution: 1000, square: [-20_037_508, 20_037_508, 40_075_016] },
  { system: "EPSG:32633", resolution: 1000, square: [-20_037_508, 20_037_508, 40_075_016] },
  { system: "ESRI:54009", resolution: 1000, square: [-20_037_508, 20_037_508, 40_075_016] },
] as const;

for (const { system, resolution, square } of cases) {
  const [west, north, side] = square;
  test(`points of ${SIZE}² pixels of ${side} m in ${system} are within a thousandth of a pixel`, () => {
    const crs = parseCrs("EPSG:3857");
    const source = { crs: parseCrs(system), toPixels: scaleBy(resolution), toCoordinates: () => {} };
    const grid = { crs, bbox: [west, north - side, west + side, north] as const, width: SIZE, height: SIZE };
    const map = createPixelMap(grid, source);
    const { columns, rows } = map.toPoints({ x: 0, y: 0, width: SIZE, height: SIZE }, WHOLE);
    const [xs, ys] = [new Float64Array(SIZE * SIZE), new Float64Array(SIZE * SIZE)];
    for (let at = 0; at < xs.length; at += 1) {
      xs[at] = west + (((at % SIZE) + 0.5) * side) / SIZE;
      ys[at] = north - ((Math.floor(at / SIZE) + 0.5) * side) / SIZE;
    }
    createReproject(crs, source.crs)(xs, ys);
    source.toPixels(xs, ys);
    let greatest = 0;
    for (let at = 0; at < xs.length; at += 1) {
      assert.equal(Number.isNaN(columns[at]), Number.isNaN(xs[at]), `pixel ${at} is nowhere in one alone`);
      const next = at % SIZE < SIZE - 1 ? at + 1 : at - 1;
      const pixel = Math.max(1, Math.hypot(xs[next]! - xs[at]!, ys[next]! - ys[at]!));
      if (!Number.isNaN(xs[at]!)) {
        greatest = Math.max(greatest, Math.hypot(columns[at]! - xs[at]!, rows[at]! - ys[at]!) / (pixel || 1));
      }
    }
    // Along a diagonal, and where neighbouring pixels are nearer to each other in one direction than in the other.
    assert.ok(greatest <= 0.001 * Math.SQRT2, `${greatest} pixels`);
  });
}

const scaleBy =
  (resolution: number) =>
  (xs: Float64Array, ys: Float64Array): void => {
    for (let at = 0; at < xs.length; at += 1) {
      xs[at] = xs[at]! / resolution;
      ys[at] = -ys[at]! / resolution;
    }
  };
