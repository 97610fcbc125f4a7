import assert from "node:assert/strict";
import { test } from "node:test";

import { originsOf, parseBaseMaps } from "../base-maps.ts";

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

test("a line that is no base map is named", () => {
  for (const line of [
    "nothing",
    "A=https://example.org/tiles.png",
    "A=javascript:{z}{x}{y}",
    "=https://e.org/{z}/{x}/{y}",
  ]) {
    assert.throws(() => parseBaseMaps(line), /each line is Title=/, line);
  }
});
