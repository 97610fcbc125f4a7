import assert from "node:assert/strict";
import { test } from "node:test";

import { type ResultFile, boxOfItems, findItemPaths, readItem } from "../../web/processing/model/result-items.ts";

const file = (path: string, type = "image/tiff", size = 10): ResultFile => ({ path, type, size });
const files = [
  file("catalog.json", "application/json"),
  file("job/collection.json", "application/json"),
  file("job/scene_ndvi/scene_ndvi.json", "application/geo+json"),
  file("job/scene_ndvi/scene_ndvi.tif"),
  file("job/scene_ndvi/scene_ndvi.png", "image/png"),
];
const item = {
  type: "Feature",
  stac_version: "1.0.0",
  id: "scene_ndvi",
  geometry: { type: "Point", coordinates: [5, 51] },
  bbox: [5, 51, 0, 6, 52, 100],
  properties: { datetime: "2019-04-11T10:50:29Z", title: "Vegetation", "ndvi:mean": 0.37, nested: {} },
  assets: {
    ndvi: {
      href: "s3://results/processing-results/j/job/scene_ndvi/scene_ndvi.tif",
      type: "image/tiff; profile=cloud-optimized",
      roles: ["data"],
    },
    thumbnail: { href: "./scene_ndvi.png", type: "image/png", title: "Picture" },
    away: { href: "https://example.org/a.tif", type: "image/tiff" },
    broken: {},
  },
};

test("items are found among the files, with their files and what is worth reading", () => {
  assert.deepEqual(findItemPaths(files), ["job/scene_ndvi/scene_ndvi.json"]);
  const read = readItem(item, "job/scene_ndvi/scene_ndvi.json", files) ?? assert.fail();
  assert.deepEqual([read.title, read.time, read.box], ["Vegetation", "2019-04-11T10:50:29Z", [5, 51, 6, 52]]);
  assert.deepEqual(read.properties, [["ndvi:mean", "0.37"]]);
  assert.deepEqual(
    read.assets.map(({ key, kind, path }) => [key, kind, path]),
    [
      ["ndvi", "raster", "job/scene_ndvi/scene_ndvi.tif"],
      ["thumbnail", "picture", "job/scene_ndvi/scene_ndvi.png"],
      ["away", "raster", undefined],
    ],
  );
  assert.equal(readItem({ type: "Feature" }, "x.json", files), undefined);
  assert.equal(readItem(null, "x.json", files), undefined);
});

test("the box around all items", () => {
  assert.deepEqual(boxOfItems([{ box: [1, 2, 3, 4] }, { box: undefined }, { box: [0, 3, 2, 9] }]), [0, 2, 3, 9]);
  assert.equal(boxOfItems([]), undefined);
});
