import assert from "node:assert/strict";
import { test } from "node:test";

import { originsOf, parseBaseMaps } from "./base-maps.ts";

test("base maps are read line by line, and pictures may come from their hosts alone", () => {
  const maps = parseBaseMaps(
    "Topographic=https://maps.example.org/t/{z}/{x}/{y}.png?key=1\n\n Night = https://maps.example.org/n/{z}/{y}/{x}",
  );
  assert.deepEqual(
    maps.map(({ title }) => title),
    ["Topographic", "Night"],
  );
  assert.deepEqual(originsOf(maps), ["https://maps.example.org"]);
  assert.deepEqual(parseBaseMaps(""), []);
});

test("a WMTS of numbered matrices is one, as a path and with parameters; entries may be on one line", () => {
  const maps = parseBaseMaps(
    "Relief=https://wmts.example.org/1.0.0/relief/default/WebMercatorQuad/{TileMatrix}/{TileRow}/{TileCol}.jpg | " +
      "Air photos = https://gis.example.org/wmts?SERVICE=WMTS&REQUEST=GetTile&TILEMATRIXSET=EPSG:3857&TILEMATRIX=EPSG:3857:{tilematrix}&TILEROW={tilerow}&TILECOL={tilecol}|" +
      "From the south=https://tms.example.org/{z}/{x}/{-y}.png",
  );
  assert.deepEqual(
    maps.map(({ url }) => url),
    [
      "https://wmts.example.org/1.0.0/relief/default/WebMercatorQuad/{z}/{y}/{x}.jpg",
      "https://gis.example.org/wmts?SERVICE=WMTS&REQUEST=GetTile&TILEMATRIXSET=EPSG:3857&TILEMATRIX=EPSG:3857:{z}&TILEROW={y}&TILECOL={x}",
      "https://tms.example.org/{z}/{x}/{-y}.png",
    ],
  );
});

test("an entry that is no base map is named, with what is wrong", () => {
  for (const [entry, problem] of [
    ["nothing", /has no address/],
    ["A=https://example.org/tiles.png", /where the tile goes/],
    ["A=javascript:{z}{x}{y}", /not of http/],
    ["=https://e.org/{z}/{x}/{y}", /has no address/],
    ["A=https://u:p@e.org/{z}/{x}/{y}", /a password/],
    ["A=https://e.org/{Style}/{TileMatrix}/{TileRow}/{TileCol}", /\{Style\}.*filled in/],
    ["A=https://{s}.e.org/{z}/{x}/{y}", /has no address|\{s\}/],
    ["A=https://e.org/{z}/{x}/{y}\nA=https://f.org/{z}/{x}/{y}", /two with the title "A"/],
  ] as const) {
    assert.throws(() => parseBaseMaps(entry), problem, entry);
  }
});
