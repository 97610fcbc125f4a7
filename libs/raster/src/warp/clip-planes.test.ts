import assert from "node:assert/strict";
import { test } from "node:test";

import { computeStatistics } from "../render/statistics.ts";
import { measureCoverage } from "./clip-planes.ts";
import { parseCrs } from "./crs.ts";

const crs = parseCrs("EPSG:3857");
const grid = { crs, bbox: [0, 0, 4, 2], width: 4, height: 2 } as const;
const clip = {
  crs,
  rings: [
    [
      [0.5, 0],
      [2.25, 0],
      [2.25, 2],
      [0.5, 2],
    ],
  ],
} as const;

test("the covered part of each pixel is that of the area", () => {
  const rounded = Array.from(measureCoverage(clip, grid), (part) => Number(part.toFixed(4)));
  assert.deepEqual(rounded, [0.5, 1, 0.25, 0, 0.5, 1, 0.25, 0]);
});

test("mean, sum, deviation and percentiles of an area are weighted, extremes and counts of pixels are not", () => {
  const samples = Float32Array.of(10, 20, 40, 99, 10, 20, 40, 99);
  const mask = Uint8Array.of(255, 255, 255, 0, 255, 255, 255, 0);
  const { mean, count, sum, std, median, min, max, ...rest } = computeStatistics(samples, mask, {
    weights: measureCoverage(clip, grid),
  });
  const variance = ((10 - mean) ** 2 * 0.5 + (20 - mean) ** 2 + (40 - mean) ** 2 * 0.25) / 1.75;
  assert.deepEqual(
    [count, sum, min, max].map((value) => Number(value.toFixed(4))),
    [3.5, 70, 10, 40],
  );
  assert.ok(Math.abs(mean - 20) < 1e-6 && Math.abs(std - Math.sqrt(variance)) < 1e-6 && median === 20);
  assert.deepEqual([rest.percentile_2, rest.percentile_98, rest.valid_pixels, rest.valid_percent], [10, 40, 6, 100]);
});
