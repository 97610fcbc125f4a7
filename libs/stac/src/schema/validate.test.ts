import assert from "node:assert/strict";
import { test } from "node:test";

import { createCollectionValidator, createItemValidator } from "./index.ts";

const validateItem = createItemValidator();
const validateCollection = createCollectionValidator();
const EXTENSIONS = ["eo/v1.1.0", "view/v1.0.0", "projection/v2.0.0", "sat/v1.0.0", "file/v2.1.0", "grid/v1.1.0"].map(
  (name) => `https://stac-extensions.github.io/${name}/schema.json`,
);

const item = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  type: "Feature",
  stac_version: "1.1.0",
  stac_extensions: [...EXTENSIONS, "https://example.org/unknown/v1/schema.json"],
  id: "a",
  geometry: { type: "Point", coordinates: [1, 2] },
  bbox: [1, 2, 1, 2],
  properties: { datetime: "2024-01-01T00:00:00Z", "eo:cloud_cover": 3, "unknown:field": {} },
  links: [],
  assets: { data: { href: "./a.tif", "file:size": 3 } },
  ...changes,
});
const properties = (changes: object): Record<string, unknown> =>
  item({ properties: { datetime: "2024-01-01T00:00:00Z", ...changes } });

test("valid items, also with extensions that nobody knows", () => {
  assert.deepEqual(validateItem(item()), []);
  assert.deepEqual(validateItem(item({ stac_version: "1.0.0", geometry: null, bbox: undefined })), []);
  assert.deepEqual(
    validateItem(
      properties({ datetime: null, start_datetime: "2024-01-01T00:00:00Z", end_datetime: "2024-02-01T00:00:00Z" }),
    ),
    [],
  );
});

const REFUSED: readonly (readonly [Record<string, unknown>, string])[] = [
  [item({ type: "feature" }), "/type"],
  [item({ id: "" }), "/id"],
  [item({ stac_version: "0.9.0" }), "/stac_version"],
  [item({ bbox: undefined }), "/bbox"],
  [item({ bbox: [1, 2, 3, 4, 5] }), "/bbox"],
  [item({ geometry: null }), "/bbox"],
  [item({ links: [{ href: "x" }] }), "/links/0/rel"],
  [item({ assets: { a: { href: 1 } } }), "/assets/a/href"],
  [item({ assets: { "a/b": { href: "x", "file:size": -1 } } }), "/assets/a~1b/file:size"],
  [properties({ datetime: null }), "/properties/datetime"],
  [properties({ datetime: "2024-01-01" }), "/properties/datetime"],
  [properties({ datetime: "2024-01-01T00:00:00+02:00" }), "/properties/datetime"],
  [properties({ start_datetime: "2024-01-01T00:00:00Z" }), "/properties/end_datetime"],
  [properties({ gsd: 0 }), "/properties/gsd"],
  [properties({ providers: [{}] }), "/properties/providers/0/name"],
  [properties({ bands: [{}] }), "/properties/bands"],
  [properties({ "eo:cloud_cover": 101 }), "/properties/eo:cloud_cover"],
  [properties({ "view:sun_elevation": -91 }), "/properties/view:sun_elevation"],
  [properties({ "proj:shape": [1.5, 2] }), "/properties/proj:shape/0"],
  [properties({ "sat:orbit_state": "up" }), "/properties/sat:orbit_state"],
  [properties({ "grid:code": "no code" }), "/properties/grid:code"],
];
for (const [refused, path] of REFUSED) {
  test(`refused with the path ${path}`, () => {
    assert.ok(
      validateItem(refused).some((issue) => issue.path === path),
      JSON.stringify(validateItem(refused)),
    );
  });
}

test("collections need a licence and an extent", () => {
  const collection = {
    type: "Collection",
    stac_version: "1.0.0",
    id: "c",
    description: "C",
    license: "other",
    extent: { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [["2020-01-01T00:00:00Z", null]] } },
    links: [],
  };
  assert.deepEqual(validateCollection(collection), []);
  assert.deepEqual(
    validateCollection({ ...collection, license: undefined }).map(({ path }) => path),
    ["/license"],
  );
  const two = {
    ...collection.extent,
    spatial: {
      bbox: [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
      ],
    },
  };
  assert.deepEqual(
    validateCollection({ ...collection, extent: two }).map(({ path }) => path),
    ["/extent/spatial/bbox"],
  );
});
