import assert from "node:assert/strict";
import { test } from "node:test";

import { parseGdalMetadata } from "./gdal-tags.ts";

const wrap = (items: string) => `<GDALMetadata>\n${items}\n</GDALMetadata>\n`;
const NONE = { dataset: {}, bands: {} };

test("reads items of the dataset and of bands, one or several, with the NUL that texts of TIFF end with", () => {
  const one = '<Item name="SENSOR">MSI &amp; OLI</Item>';
  assert.deepEqual(parseGdalMetadata(`${wrap(one)}\0`), { dataset: { SENSOR: "MSI & OLI" }, bands: {} });
  const bands = `${one}
    <Item name="OTHER" domain="RPC">x</Item>
    <Item name="DESCRIPTION" sample="0" role="description">red</Item>
    <Item name="SCALE" sample="0" role="scale">0.0001</Item>
    <Item name="OFFSET" sample="1" role="offset">-0.1</Item>
    <Item name="UNITTYPE" sample="1" role="unittype">m</Item>
    <Item name="SCALE" sample="2" role="scale">much</Item>`;
  assert.deepEqual(parseGdalMetadata(wrap(bands)), {
    dataset: { SENSOR: "MSI & OLI" },
    bands: { 0: { description: "red", scale: 0.0001 }, 1: { offset: -0.1, unit: "m" }, 2: {} },
  });
});

test("takes nothing from what is not well formed, has entities or is deep", () => {
  const item = '<Item name="a">b</Item>';
  for (const text of [
    undefined,
    "",
    item,
    wrap(`${item}&foo;`),
    `<!DOCTYPE a [<!ENTITY b "c">]>${wrap(item)}`,
    wrap("<a>".repeat(1000)),
    wrap(item).slice(0, -8),
  ]) {
    assert.deepEqual(parseGdalMetadata(text), NONE, text);
  }
});
