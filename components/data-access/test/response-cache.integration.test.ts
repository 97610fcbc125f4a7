import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { RasterPool } from "@swath/raster";
import { createLogger } from "@swath/service";
import { waitUntil } from "@swath/testing";

import { createResponseCache } from "../http/response-cache.ts";
import { createFolderSource } from "../layers/folder-source.ts";
import { createDataAccessService } from "../service.ts";
import { createPictureCache } from "../tiles/picture-cache.ts";

const SCENES = join(import.meta.dirname, "../../../examples/scenes");

/** The service over a copy of the example scenes; counts the pictures that it is asked for past the responses in memory. */
async function startCounting(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "responses-"));
  cpSync(SCENES, folder, { recursive: true });
  const pool = new RasterPool({ threads: 1, cacheBytes: 33_554_432 });
  const pictures = createPictureCache({ pool, memoryBytes: 4_000_000 });
  const logger = createLogger("data-access", "silent");
  let rendered = 0;
  const app = await createDataAccessService(logger, {
    pool,
    pictures: {
      render: (...args) => {
        rendered += 1;
        return pictures.render(...args);
      },
    },
    responses: createResponseCache(logger),
    layers: createFolderSource(folder, { privateHosts: [] }),
    privateHosts: [],
    allowPublicUrls: false,
    title: "Test",
    baseMaps: [],
    catalogueUrl: undefined,
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  t.after(async () => {
    await app.close();
    await pool.close();
    rmSync(folder, { recursive: true });
  });
  const layer = "S2B_33TWM_20230820_0_L2A_crop";
  return { url, folder, layer, count: () => rendered };
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, { headers });
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    etag: response.headers.get("etag") ?? "",
    headers: Object.fromEntries([...response.headers].filter(([name]) => !["date", "keep-alive"].includes(name))),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

/** Asks for what is answered from memory once it was asked for twice: the second time, versions of files are read. */
async function getFromMemory(url: string, count: () => number, headers: Readonly<Record<string, string>> = {}) {
  const before = count();
  const response = await get(url, headers);
  assert.equal(count(), before, "the response was made again");
  return response;
}

test("the same request is answered from memory as it was answered before, and others are not", async (t) => {
  // What is known of layers holds for a second: here the clock stands, however slow the machine is.
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const { url, folder, layer, count } = await startCounting(t);
  const map = `${url}/collections/${layer}/styles/ndvi/map?bbox=15.2,46.3,15.4,46.4&width=64&f=png`;
  const first = await get(map);
  assert.equal(first.status, 200, first.bytes.toString("utf8", 0, 300));
  await get(map);
  const again = await getFromMemory(map, count);
  assert.deepEqual(again, first);

  await t.test("a client that has the picture is told so", async () => {
    const known = await getFromMemory(map, count, { "if-none-match": `"other", ${first.etag}` });
    assert.deepEqual([known.status, known.bytes.length, known.etag], [304, 0, first.etag]);
  });

  await t.test("what a response depends on makes it another request", async () => {
    const negotiated = map.replace("&f=png", "");
    for (const accept of ["image/png", "image/webp", "image/png"]) {
      assert.equal((await get(negotiated, { accept })).type, accept);
    }
    const before = count();
    await get(map, { authorization: "Bearer somebody" });
    await get(map, { "x-forwarded-host": "data-access.ws-eric.example.org" });
    assert.equal(count(), before + 2);
    const secure = await get(map, { "x-forwarded-proto": "https" });
    assert.equal(secure.headers["strict-transport-security"], "max-age=31536000");
  });

  await t.test("a file that is another one is shown at once", async () => {
    copyFileSync(join(SCENES, "maribor-0818/B08.tif"), join(folder, "maribor-0820/B08.tif"));
    const changed = await get(map);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.etag, first.etag);
    await get(map);
    assert.equal((await getFromMemory(map, count)).etag, changed.etag);
  });

  await t.test("an item that was taken away is not shown any more", async () => {
    rmSync(join(folder, "maribor-0820/item.json"));
    await waitUntil("the layer to go", async () => {
      t.mock.timers.tick(1000);
      return (await get(map)).status === 404;
    });
  });
});
