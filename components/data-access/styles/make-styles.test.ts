import assert from "node:assert/strict";
import { test } from "node:test";

import type { StacItem } from "@swath/stac";

import { makeStyles } from "./make-styles.ts";

const styleOf = (key: string, asset: object) =>
  makeStyles({ assets: { [key]: { href: `${key}.tif`, type: "image/tiff", ...asset } } } as unknown as StacItem)[0];

test("an index that was computed has the colours of that index", () => {
  const ndvi = styleOf("ndvi", { bands: [{ data_type: "float32" }] });
  assert.deepEqual(ndvi?.colormap, { kind: "named", name: "rdylgn" });
  assert.deepEqual(ndvi?.rescale, [[-0.2, 0.9]]);
  const titled = styleOf("result", { title: "Mean NDWI of 2024", "raster:bands": [{ data_type: "float64" }] });
  assert.deepEqual(titled?.colormap, { kind: "named", name: "blues" });
});

test("what only looks like an index is shown by its values", () => {
  for (const [key, asset] of [
    ["ndvi", { bands: [{ data_type: "uint8" }] }],
    ["ndvi", {}],
    ["ndvi", { bands: [{ data_type: "float32", scale: 0.0001 }] }],
    ["devices", { bands: [{ data_type: "float32" }] }],
  ] as const) {
    assert.equal(styleOf(key, asset)?.colormap, undefined, `${key} ${JSON.stringify(asset)}`);
  }
});
