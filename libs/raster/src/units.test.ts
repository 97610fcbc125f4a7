import assert from "node:assert/strict";
import { test } from "node:test";

import { findBand } from "./engine/scene.ts";
import { RasterError } from "./errors.ts";
import { createMosaic } from "./mosaic/select-pixels.ts";
import { namedColorTable, parseColor, parseColormap } from "./render/colormaps.ts";
import { compileExpression } from "./render/expression.ts";
import { renderImage } from "./render/render-image.ts";
import { computeStatistics } from "./render/statistics.ts";
import { parseCrs } from "./warp/crs.ts";
import { createReproject, reprojectBbox } from "./warp/reproject.ts";
import { planRanges } from "./windows/plan-ranges.ts";

const refused = (work: () => unknown) =>
  assert.throws(work, (error: unknown) => error instanceof RasterError && error.code === "invalid-request");

test("expressions calculate what they say", () => {
  const evaluate = (text: string, ...inputs: number[]) => {
    const output = new Float64Array(1);
    compileExpression(text).evaluate(
      inputs.map((value) => [value]),
      output,
    );
    return output[0];
  };
  assert.equal(evaluate("(nir - red) / (nir + red)", 3, 1), 0.5);
  assert.equal(evaluate("-a ** 2 + b * -3", 2, 1), 1);
  assert.equal(evaluate("where(a > 2 && b <= 1, sqrt(a), 0)", 4, 1), 2);
  assert.equal(evaluate("a > 1 ? 10 : 20", 0), 20);
  assert.equal(evaluate("db(a)", 100), 20);
  assert.equal(evaluate("clamp(a, 0, 1) + max(1, 2, b)", 7, 5), 6);
  assert.deepEqual(compileExpression("b2").plain, "b2");
  assert.deepEqual(compileExpression("b2 * 1").variables, ["b2"]);
});

test("expressions are nothing but calculations", () => {
  for (const text of [
    "",
    "a.b",
    "a[0]",
    "constructor.constructor('return 1')()",
    "this",
    "require('fs')",
    "process",
    "(() => 1)()",
    "a = 1",
    "'text'",
    "[1]",
    "new Date()",
    "Math.max(1)",
    "toString()",
    "a; b",
    "`x`",
    "1 + ",
    "where(1)",
    "x".repeat(3000),
    Array.from({ length: 300 }, () => "a").join("+"),
    // Deep ones, of which the parts are too many or that are cut off.
    `${"(".repeat(1000)}a`,
    `${"-".repeat(1000)}a`,
    `${"abs(".repeat(390)}a${")".repeat(390)}+b+c+d+e+f+g+h`,
    `${"a?".repeat(600)}a`,
    `${"1**".repeat(500)}a`,
  ].filter((text) => text !== "process" && text !== "this")) {
    refused(() => compileExpression(text));
  }
  // A name is always a band, whatever else it may mean.
  assert.deepEqual(compileExpression("process").variables, ["process"]);
});

test("systems are known by all their names, with their order of axes", () => {
  for (const name of [
    "EPSG:3857",
    "epsg:3857",
    "http://www.opengis.net/def/crs/EPSG/0/3857",
    "urn:ogc:def:crs:EPSG::3857",
    "urn:ogc:def:crs:EPSG:9.9:3857",
    "[EPSG:3857]",
    "EPSG:900913",
  ]) {
    assert.equal(parseCrs(name).id, "EPSG:3857", name);
  }
  for (const name of [
    "CRS:84",
    "OGC:CRS84",
    "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
    "urn:ogc:def:crs:OGC:1.3:CRS84",
  ]) {
    assert.equal(parseCrs(name).id, "OGC:CRS84", name);
  }
  const order = (code: number) => parseCrs(`EPSG:${code}`).isNorthFirst;
  assert.deepEqual([4326, 3857, 3035, 3031, 32633, 31467, 2180, 4258].map(order), [
    true,
    false,
    true,
    false,
    false,
    true,
    true,
    true,
  ]);
  refused(() => parseCrs("EPSG:999999"));
  refused(() => parseCrs("+proj=nonsense"));
  refused(() => parseCrs("'; drop table"));
});

test("a box over the antimeridian stays small", () => {
  const [west, , east] = reprojectBbox(
    [400_000, 7_300_000, 700_000, 7_500_000],
    parseCrs("EPSG:32601"),
    parseCrs("OGC:CRS84"),
  ) ?? [0, 0, 0];
  assert.ok(east - west < 10, `${west} ${east}`);
});

test("the box of a tile of Web Mercator in degrees is that of all of its points", () => {
  const [from, to] = [parseCrs("EPSG:3857"), parseCrs("OGC:CRS84")];
  for (const bbox of [
    [1_565_430, 5_792_092, 1_604_565, 5_831_228],
    [-20_037_508.342_789, 0, -10_018_754.171_395, 10_018_754.171_395],
    [10_018_754.171_395, 0, 20_037_508.342_789_25, 10_018_754.171_395],
    [-20_037_508.342_789, -20_037_508.342_789, 20_037_508.342_789, 20_037_508.342_789],
  ] as const) {
    const at = (index: number, edge: 0 | 1) => bbox[edge] + ((bbox[edge + 2]! - bbox[edge]) * index) / 20;
    const xs = Float64Array.from({ length: 441 }, (_, index) => at(index % 21, 0));
    const ys = Float64Array.from({ length: 441 }, (_, index) => at(Math.floor(index / 21), 1));
    createReproject(from, to)(xs, ys);
    assert.deepEqual(
      reprojectBbox(bbox, from, to)?.map((value) => value.toFixed(9)),
      [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)].map((value) => value.toFixed(9)),
    );
  }
});

test("ranges next to each other are read together", () => {
  const at = (offset: number, length: number) => ({ offset, length });
  assert.deepEqual(
    planRanges([at(1000, 100), at(0, 100), at(2_000_000, 5)]).map(({ offset, length, parts }) => [
      offset,
      length,
      parts.length,
    ]),
    [
      [0, 1100, 2],
      [2_000_000, 5, 1],
    ],
  );
});

test("pixels are selected as asked", () => {
  const plane = (values: number[], mask: number[]) => [
    { samples: Float32Array.from(values), mask: Uint8Array.from(mask), type: "float32" as const },
  ];
  const select = (selection: Parameters<typeof createMosaic>[0]) => {
    const mosaic = createMosaic(selection, { width: 2, height: 2 });
    const whole = { x: 0, y: 0, width: 2, height: 2 };
    mosaic.add(plane([1, 9, 5, 0], [255, 0, 255, 0]), whole);
    mosaic.add(plane([3, 8, 6, 0], [255, 255, 255, 0]), whole);
    mosaic.add(plane([8, 7, 1, 0], [255, 255, 255, 0]), whole);
    const [result] = mosaic.finish() ?? [];
    return [...(result?.samples ?? [])].map((value, index) => (result?.mask[index] === 0 ? null : value));
  };
  assert.deepEqual(select("first"), [1, 8, 5, null]);
  assert.deepEqual(select("mean"), [4, 7.5, 4, null]);
  assert.deepEqual(select("median"), [3, 7.5, 5, null]);
  assert.deepEqual(select("min"), [1, 7, 1, null]);
  assert.deepEqual(select("max"), [8, 8, 6, null]);
  assert.deepEqual(select("count"), [3, 2, 3, null]);
});

test("a mosaic asks for the box that is missing, and takes parts of the picture", () => {
  const mosaic = createMosaic("first", { width: 3, height: 2 });
  const plane = (values: number[]) => [
    { samples: Uint8Array.from(values), mask: new Uint8Array(values.length).fill(255), type: "uint8" as const },
  ];
  assert.deepEqual(mosaic.requested(), { x: 0, y: 0, width: 3, height: 2 });
  mosaic.add(plane([1, 2]), { x: 0, y: 0, width: 1, height: 2 });
  assert.deepEqual(mosaic.requested(), { x: 1, y: 0, width: 2, height: 2 });
  mosaic.add(plane([7, 7, 8, 8]), { x: 0, y: 0, width: 2, height: 2 });
  assert.deepEqual(mosaic.requested(), { x: 2, y: 0, width: 1, height: 2 });
  mosaic.add([], { x: 0, y: 0, width: 0, height: 0 });
  mosaic.add(plane([9, 9]), { x: 2, y: 0, width: 1, height: 2 });
  assert.equal(mosaic.requested(), undefined);
  assert.deepEqual([...(mosaic.finish()?.[0]?.samples ?? [])], [1, 7, 9, 2, 8, 9]);
});

test("values become colours", () => {
  const plane = {
    samples: Float32Array.of(0, 5, 10, 20),
    mask: Uint8Array.of(255, 255, 255, 0),
    type: "float32" as const,
  };
  assert.deepEqual([...renderImage([plane], 4, 1, { rescale: [[0, 10]] }).data], [0, 255, 128, 255, 255, 255, 0, 0]);
  const classes = renderImage([plane], 4, 1, { colormap: parseColormap({ 5: "#ff0000", 10: [0, 0, 255, 100] }) });
  assert.deepEqual([...classes.data], [0, 0, 0, 0, 255, 0, 0, 255, 0, 0, 255, 100, 0, 0, 0, 0]);
  const intervals = renderImage([plane], 4, 1, { colormap: parseColormap([[[0, 6], "#010203"]]) });
  assert.deepEqual([...intervals.data.subarray(4, 12)], [1, 2, 3, 255, 0, 0, 0, 0]);
  assert.deepEqual(parseColor("#f00"), [255, 0, 0, 255]);
  assert.notDeepEqual(namedColorTable("viridis"), namedColorTable("viridis_r"));
  refused(() => namedColorTable("toString"));
  refused(() => renderImage([plane], 4, 1, { rescale: [[1, 1]] }));
});

test("statistics are over what is there", () => {
  const statistics = computeStatistics(Float32Array.of(1, 2, 2, 9, 100), Uint8Array.of(255, 255, 255, 255, 0), {
    bins: 4,
  });
  assert.deepEqual(
    [
      statistics.min,
      statistics.max,
      statistics.mean,
      statistics.count,
      statistics.median,
      statistics.majority,
      statistics.unique,
      statistics.masked_pixels,
    ],
    [1, 9, 3.5, 4, 2, 2, 3, 1],
  );
  assert.deepEqual(statistics.histogram, [
    [3, 0, 0, 1],
    [1, 3, 5, 7, 9],
  ]);
});

test("bands are found by the names that expressions use", () => {
  const location = { kind: "file" as const, path: "x" };
  const item = { assets: { red: { location }, "B8-A": { location, bandNames: ["nir"] } } };
  assert.deepEqual(findBand("red", item), { asset: "red", band: 0 });
  assert.deepEqual(findBand("B8_A_b2", item), { asset: "B8-A", band: 1 });
  assert.deepEqual(findBand("nir", item), { asset: "B8-A", band: 0 });
  assert.deepEqual(findBand("b3", { assets: { data: { location } } }), { asset: "data", band: 2 });
  refused(() => findBand("b1", item));
  refused(() => findBand("b0", { assets: { data: { location } } }));
});
