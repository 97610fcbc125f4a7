import assert from "node:assert/strict";
import { test } from "node:test";

import { extentOf } from "./extent.ts";
import { relativeHref, resolveHref } from "./links.ts";
import { parseMultihash, toMultihash } from "./multihash.ts";
import { isStac, parseStac } from "./read.ts";
import type { StacItem } from "./types.ts";

const ITEM = {
  type: "Feature",
  id: "i",
  geometry: null,
  properties: {},
  assets: { a: { href: "a.tif", "x:y": 1 } },
  extra: 1,
};

test("what can be used is read, and what is not known is kept", () => {
  const item = parseStac(
    { ...ITEM, id: 7, links: [{ rel: "self" }, { rel: "x", href: "y", more: 1 }] },
    "w",
  ) as StacItem;
  assert.equal(item.id, "7");
  assert.equal(item.stac_version, "1.0.0");
  assert.equal(item["extra"], 1);
  assert.equal(item.assets["a"]?.["x:y"], 1);
  assert.deepEqual(item.links, [{ rel: "x", href: "y", more: 1 }]);
  assert.equal(parseStac({ stac_version: "0.8.0", id: "c", links: [] }, "w").type, "Catalog");
  assert.equal(parseStac({ stac_version: "0.8.0", id: "c", links: [], extent: {} }, "w").type, "Collection");
});

test("an asset named __proto__ is an asset", () => {
  const item = parseStac({ ...ITEM, assets: JSON.parse('{"__proto__":{"href":"p"}}') as object }, "w") as StacItem;
  assert.deepEqual(Object.keys(item.assets), ["__proto__"]);
});

for (const [value, message] of [
  [[], "w: is a list; a STAC document is a JSON object"],
  [{ type: "Nothing" }, 'w: has type "Nothing"; STAC has Feature, FeatureCollection, Catalog and Collection'],
  [{}, 'w: has neither "type" nor "stac_version": it is not a STAC document'],
  [{ ...ITEM, id: "" }, 'w: "id" is a string; every STAC object needs a text there'],
  [{ ...ITEM, properties: null }, 'w: "properties" is null; an item needs an object there'],
  [{ ...ITEM, assets: { a: {} } }, 'w: the asset "a" has no "href"; each asset says where its file is'],
  [{ type: "FeatureCollection", features: [{}] }, "w (features[0]): is not a Feature"],
] as const) {
  test(`refused: ${message}`, () => {
    assert.throws(() => parseStac(value, "w"), { name: "StacError", message });
  });
}

test("other GeoJSON is not taken for STAC", () => {
  assert.equal(isStac({ type: "Feature", geometry: null, properties: {} }), false);
  assert.equal(isStac({ type: "FeatureCollection", features: [{ type: "Feature", properties: {} }] }), false);
  assert.equal(isStac({ type: "FeatureCollection", features: [ITEM] }), true);
  assert.equal(isStac({ type: "Collection", id: "a" }), false);
  // Collections without links are published.
  assert.equal(isStac({ type: "Collection", stac_version: "1.0.0", id: "a" }), true);
});

test("links are made absolute and relative", () => {
  assert.equal(resolveHref("./a/b.tif", "https://h/x/item.json?y#z"), "https://h/x/a/b.tif");
  assert.equal(resolveHref("../B 1#.tif", "s3://b/x/y/item.json"), "s3://b/x/B 1#.tif");
  assert.equal(resolveHref("../../../../a", "s3://b/x/item.json"), "s3://b/a");
  assert.equal(resolveHref("s3://c/a b", "https://h/"), "s3://c/a b");
  assert.throws(() => resolveHref("a.tif", "data:application/json,{}"), /the document has no address/);
  assert.equal(relativeHref("catalog.json", "a/a.json"), "./a/a.json");
  assert.equal(relativeHref("a/b/i.json", "a/c/d#.tif"), "../c/d%23.tif");
  assert.equal(
    resolveHref(relativeHref("a/b/i.json", "a/100%?.tif"), "https://h/a/b/i.json"),
    "https://h/a/100%25%3F.tif",
  );
});

test("multihashes are written and read", () => {
  const digest = { algorithm: "sha256", hex: "ab".repeat(32) } as const;
  assert.equal(toMultihash(digest), `1220${"ab".repeat(32)}`);
  for (const [algorithm, bytes] of [
    ["sha1", 20],
    ["sha256", 32],
    ["sha512", 64],
    ["md5", 16],
  ] as const) {
    const some = { algorithm, hex: "0f".repeat(bytes) };
    assert.deepEqual(parseMultihash(toMultihash(some).toUpperCase()), some);
  }
  assert.equal(parseMultihash("1220abcd"), undefined);
  assert.equal(parseMultihash("not hexadecimal"), undefined);
});

test("the extent of items, also without boxes, with heights and across the antimeridian", () => {
  const item = (bbox: readonly number[] | undefined, datetime: string | null): StacItem => ({
    ...(parseStac(ITEM, "w") as StacItem),
    properties: { datetime },
    ...(bbox !== undefined && { bbox }),
  });
  assert.deepEqual(extentOf([]), { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } });
  assert.deepEqual(
    extentOf([
      item([1, 2, 0, 3, 4, 9], "2024-02-01T00:00:00Z"),
      item([0, 3, 2, 5], "2023-01-01T00:00:00+01:00"),
      item(undefined, null),
    ]),
    {
      spatial: { bbox: [[0, 2, 3, 5]] },
      temporal: { interval: [["2023-01-01T00:00:00+01:00", "2024-02-01T00:00:00Z"]] },
    },
  );
  assert.deepEqual(extentOf([item([170, -1, -170, 1], null)]).spatial.bbox, [[-180, -1, 180, 1]]);
});
