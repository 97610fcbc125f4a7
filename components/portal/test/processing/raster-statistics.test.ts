import assert from "node:assert/strict";
import { test } from "node:test";

import { computeStatistics, formatValue } from "../../web/processing/model/raster-statistics.ts";

test("a band is summed up without its empty pixels", () => {
  const found = computeStatistics(new Float32Array([0, 1, 2, 3, -9999, Number.NaN]), -9999) ?? assert.fail();
  assert.deepEqual([found.count, found.empty, found.minimum, found.maximum, found.mean], [4, 2, 0, 3, 1.5]);
  assert.equal(found.deviation.toFixed(6), Math.sqrt(1.25).toFixed(6));
  assert.equal(found.median, 2);
  assert.deepEqual(found.histogram, { from: -0.5, width: 1, counts: [1, 1, 1, 1] });
  assert.equal(computeStatistics(new Uint8Array([0, 0]), 0), undefined);
});

test("every pixel is in one bar", () => {
  const values = Float64Array.from({ length: 1000 }, (_, index) => Math.sin(index));
  const { histogram, count } = computeStatistics(values, null) ?? assert.fail();
  assert.equal(histogram.counts.length, 64);
  assert.equal(
    histogram.counts.reduce((sum, bar) => sum + bar, 0),
    count,
  );
  const flat = computeStatistics(new Float32Array([0.5, 0.5]), null) ?? assert.fail();
  assert.deepEqual(flat.histogram.counts, [2]);
});

test("numbers are written with the digits that matter", () => {
  assert.deepEqual([0, 0.123456, 1234567, 0.00001, -1.5].map(formatValue), [
    "0",
    "0.12346",
    "1.23e+6",
    "1.00e-5",
    "-1.5",
  ]);
});
