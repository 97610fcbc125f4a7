import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { getImage, getJson, start } from "./fixture.ts";

const ITEM = "maribor-0820/item.json";

test("shows an item of another catalogue where the operator allows it", async (t) => {
  const { url, files, folder } = await start(t, { EXTERNAL_ITEMS: "true" });
  const at = (path: string, item = `${files}/${ITEM}`) => `${url}/stac/${path}?url=${encodeURIComponent(item)}`;
  const assets = (await getJson(at("assets"))) as unknown as readonly string[];
  assert.ok(assets.includes("red"), assets.join());
  const { mean, type } = await getImage(`${at("preview.png")}&assets=red&rescale=0,3000&max_size=64`);
  assert.equal(type, "image/png");
  assert.ok(mean > 0);
  // Its styles are made from its own bands.
  const styled = await getImage(`${at("preview.png")}&style=ndvi&max_size=64`);
  assert.ok(styled.mean > 0);

  await t.test("reads nothing of the deployment that the item names", async () => {
    const item = JSON.parse(readFileSync(join(folder, ITEM), "utf8")) as { assets: Record<string, { href: string }> };
    for (const href of [`file://${folder}/maribor-0820/B04.tif`, "s3://ws-eric/B04.tif"]) {
      const { red } = item.assets;
      writeFileSync(join(folder, "thief.json"), JSON.stringify({ ...item, assets: { red: { ...red, href } } }));
      const response = await fetch(at("preview.png", `${files}/thief.json`));
      assert.equal(response.status, 422, href);
    }
  });

  await t.test("says what is wrong with an address", async () => {
    writeFileSync(join(folder, "large.json"), Buffer.alloc(5 * 1024 * 1024, " "));
    writeFileSync(join(folder, "text.json"), "no item");
    for (const [item, status] of [
      [`${files}/large.json`, 400],
      [`${files}/text.json`, 422],
      [`${files}/missing.json`, 404],
      ["http://127.0.0.1:1/item.json", 403],
      ["http://169.254.169.254/latest/meta-data", 403],
      ["file:///etc/passwd", 404],
    ] as const) {
      const response = await fetch(at("info", item));
      assert.equal(response.status, status, `${item}: ${await response.text()}`);
    }
  });
});

test("fetches no item of other hosts by default, and with ALLOW_PUBLIC_URLS=false of allowed hosts only", async (t) => {
  const plain = await start(t);
  const item = encodeURIComponent(`${plain.files}/${ITEM}`);
  assert.equal((await fetch(`${plain.url}/stac/info?url=${item}`)).status, 404);
  const closed = await start(t, { EXTERNAL_ITEMS: "true", ALLOW_PUBLIC_URLS: "false" });
  const other = encodeURIComponent("https://example.org/item.json");
  assert.equal((await fetch(`${closed.url}/stac/info?url=${other}`)).status, 404);
  const allowed = encodeURIComponent(`${closed.files}/${ITEM}`);
  assert.equal((await fetch(`${closed.url}/stac/info?url=${allowed}`)).status, 200);
});
