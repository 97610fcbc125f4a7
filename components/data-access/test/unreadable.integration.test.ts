import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { findCollection, start } from "./fixture.ts";

const SCENE = join(import.meta.dirname, "../../../examples/scenes/maribor-0820");

test("answers 422 for maps and info of files that cannot be read, not a blank picture or nothing", async (t) => {
  const scenes = mkdtempSync(join(tmpdir(), "unreadable-"));
  t.after(() => rmSync(scenes, { recursive: true }));
  cpSync(SCENE, join(scenes, "scene"), { recursive: true });
  for (const name of readdirSync(join(scenes, "scene")).filter((file) => file.endsWith(".tif"))) {
    writeFileSync(join(scenes, "scene", name), "this is no TIFF file");
  }
  const item = JSON.parse(readFileSync(join(SCENE, "item.json"), "utf8")) as { readonly id: string };
  const { url } = await start(t, {}, scenes);
  const id = await findCollection(url);
  for (const path of [
    `/collections/${id}/styles/ndvi/map?f=png&bbox=15.2,46.3,15.4,46.4&width=64`,
    `/collections/${id}/tiles/WebMercatorQuad/9/277/181.png?style=ndvi`,
    // Of the same handler as /stac/info, which takes items of a catalogue alone.
    `/collections/${id}/items/${item.id}/info`,
  ]) {
    const response = await fetch(`${url}${path}`);
    const text = await response.text();
    assert.equal(response.status, 422, `${path}: ${text.slice(0, 300)}`);
    assert.match(response.headers.get("content-type") ?? "", /problem\+json/);
  }
});

test("refuses bodies that are too large with 413", async (t) => {
  const { url } = await start(t);
  const id = await findCollection(url);
  const body = JSON.stringify({ type: "Feature", properties: { note: "x".repeat(5 * 2 ** 20) } });
  for (const [method, path] of [
    ["POST", "/cog/feature.png"],
    ["POST", "/cog/statistics"],
    ["POST", "/stac/statistics"],
    ["PUT", `/collections/${id}/styles/large`],
  ] as const) {
    const response = await fetch(`${url}${path}`, { method, headers: { "content-type": "application/json" }, body });
    assert.equal(response.status, 413, `${path}: ${await response.text()}`);
  }
});
