import assert from "node:assert/strict";
import { test } from "node:test";

import {
  EMPTY_COLLECTION,
  EMPTY_ITEM,
  checkCollection,
  checkItem,
  toCollection,
  toCollectionForm,
  toFieldErrors,
  toItem,
  toItemForm,
} from "../../web/catalogue/model/edit.ts";

test("a document that goes through its form unchanged stays the same", () => {
  const collection = {
    type: "Collection" as const,
    stac_version: "1.0.0",
    id: "c",
    title: "C",
    description: "About",
    license: "CC-BY-4.0",
    keywords: ["a"],
    extent: {
      spatial: { bbox: [[1, 2, 3, 4]] },
      temporal: { interval: [["2020-01-01T10:00:00Z", null]] },
    },
    summaries: { platform: ["p"] },
    links: [],
  };
  assert.deepEqual(toCollection(toCollectionForm(collection), collection), collection);
  const item = {
    type: "Feature" as const,
    stac_version: "1.0.0",
    stac_extensions: ["https://stac-extensions.github.io/eo/v1.0.0/schema.json"],
    id: "i",
    collection: "c",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [1, 2],
          [3, 2],
          [3, 5],
          [1, 4],
          [1, 2],
        ],
      ],
    },
    bbox: [1, 2, 3, 5],
    properties: { title: "I", datetime: "2020-01-01T00:00:00Z", "eo:cloud_cover": 3, platform: "p" },
    assets: { data: { href: "s3://b/k" } },
    links: [],
  };
  assert.deepEqual(toItem(toItemForm(item), "c", item), item);
});

test("a box makes a polygon and the bounding box, nothing makes an item without place", () => {
  const made = toItem({ ...EMPTY_ITEM, id: "i", area: "1,2,3,4", datetime: "2020-01-01T00:00:00Z" }, "c");
  assert.deepEqual(made["bbox"], [1, 2, 3, 4]);
  const nowhere = toItem({ ...EMPTY_ITEM, id: "i", datetime: "2020-01-01T00:00:00Z" }, "c");
  assert.equal(nowhere["geometry"], null);
  assert.equal("bbox" in nowhere, false);
});

test("an item that says how cloudy it is declares the extension that has this", () => {
  const made = toItem({ ...EMPTY_ITEM, id: "i", clouds: "12" }, "c", {
    stac_extensions: ["https://example.org/x.json"],
  });
  assert.deepEqual(made["stac_extensions"], [
    "https://example.org/x.json",
    "https://stac-extensions.github.io/eo/v1.1.0/schema.json",
  ]);
  assert.equal("stac_extensions" in toItem({ ...EMPTY_ITEM, id: "i" }, "c"), false);
});

test("what is wrong is at its field", () => {
  for (const clouds of ["120", "-1", "NaN"]) {
    assert.deepEqual(Object.keys(checkItem({ ...EMPTY_ITEM, id: "i", clouds })), ["clouds"]);
  }
  assert.deepEqual(Object.keys(checkCollection({ ...EMPTY_COLLECTION, area: "north" })), ["id", "description", "area"]);
  assert.deepEqual(Object.keys(checkItem({ ...EMPTY_ITEM, id: "i", area: "{", assets: "[]", clouds: "many" })), [
    "area",
    "clouds",
    "assets",
  ]);
  assert.deepEqual(
    toFieldErrors("item", [
      { path: "/properties/datetime", rule: "must be a date-time" },
      { path: "/assets/data/href", rule: "is required" },
      { path: "/properties/gsd", rule: "must be a number" },
      { path: "/stac_version", rule: "must be 1.1.0" },
    ]),
    {
      datetime: "must be a date-time",
      assets: "/data/href is required",
      properties: "/gsd must be a number",
      "": "/stac_version must be 1.1.0",
    },
  );
});
