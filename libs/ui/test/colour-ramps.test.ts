import assert from "node:assert/strict";
import { test } from "node:test";

import { expandBbox } from "../src/map/box.ts";
import { RAMPS, colourAt, suggestRamp, toGradient } from "../src/map/colour-ramps.ts";

test("a ramp gives every value a colour between its neighbours", () => {
  const grey = RAMPS.find(({ name }) => name === "grey") ?? assert.fail();
  assert.deepEqual(colourAt(grey, 0.5), [128, 128, 128]);
  assert.deepEqual(colourAt(grey, -1), [0, 0, 0]);
  assert.deepEqual(colourAt(grey, 2), [255, 255, 255]);
  assert.equal(toGradient(grey), "linear-gradient(to right, rgb(0 0 0), rgb(255 255 255))");
});

test("bands get the ramp that people expect", () => {
  assert.equal(suggestRamp("S2B_ndvi").name, "vegetation");
  assert.equal(suggestRamp("ndwi").name, "water");
  assert.equal(suggestRamp("B04").name, "grey");
  assert.equal(suggestRamp("anything").name, "viridis");
});

test("a box gets room around it and stays on the map", () => {
  assert.deepEqual(expandBbox([0, 0, 10, 10], 0.1), [-1, -1, 11, 11]);
  assert.equal(expandBbox([0, 80, 10, 90])[3], 85);
});
