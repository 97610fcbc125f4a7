import assert from "node:assert/strict";
import { test } from "node:test";

import type { StacItem } from "@swath/stac";

import { findTypicalItem } from "./typical-item.ts";

const makeItem = (keys: readonly string[], properties = {}) =>
  ({
    assets: Object.fromEntries(keys.map((key) => [key, { href: `${key}.tif`, type: "image/tiff" }])),
    properties,
  }) as unknown as StacItem;

test("an item with fewer assets takes none away, and one with more puts them last", () => {
  const items = [makeItem(["extra", "red"]), makeItem(["red"]), makeItem(["red", "nir"])];
  assert.deepEqual(Object.keys(findTypicalItem(items, undefined)?.assets ?? {}), ["red", "nir", "extra"]);
});

test("assets that a collection describes come first and are as it says; items add what it leaves out", () => {
  const items = [makeItem(["thumbnail", "red"])];
  const { assets } = findTypicalItem(items, { red: { title: "Red", bands: [{}] }, nir: { title: "Infrared" } }) ?? {};
  assert.deepEqual(assets, {
    red: { href: "red.tif", type: "image/tiff", title: "Red", bands: [{}] },
    nir: { href: "", title: "Infrared" },
    thumbnail: { href: "thumbnail.tif", type: "image/tiff" },
  });
});

test("what the newest item says of itself goes before what older ones say", () => {
  const items = [makeItem([], { platform: "b" }), makeItem([], { platform: "a", "cube:dimensions": { z: {} } })];
  assert.deepEqual(findTypicalItem(items, undefined)?.properties, { platform: "b", "cube:dimensions": { z: {} } });
  assert.equal(findTypicalItem([], { red: {} }), undefined);
});
