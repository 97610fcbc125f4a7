import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { type ImageRequest, RasterPool, parseCrs } from "@swath/raster";

import { createPictureCache } from "../tiles/picture-cache.ts";
import { createPictureStore } from "../tiles/picture-store.ts";

const SCENE = join(import.meta.dirname, "../../../examples/scenes/maribor-0820");

/** A pool that counts what it renders, and a request for a tile of a file that may be replaced. */
function prepare(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "pictures-"));
  const path = join(folder, "scene.tif");
  copyFileSync(join(SCENE, "B04.tif"), path);
  const pool = new RasterPool({ threads: 1, cacheBytes: 33_554_432 });
  t.after(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });
  let rendered = 0;
  const counting: Pick<RasterPool, "image" | "version"> = {
    version: (location, signal) => pool.version(location, signal),
    image: (request, signal) => {
      rendered += 1;
      return pool.image(request, signal);
    },
  };
  const request: ImageRequest = {
    scenes: [{ assets: { data: { location: { kind: "file", path } } } }],
    grid: { crs: parseCrs("EPSG:3857"), bbox: [1_690_000, 5_825_000, 1_710_000, 5_845_000], width: 128, height: 128 },
    expressions: ["b1"],
    rescale: [[0, 3000]],
    format: "png",
  };
  return { pool: counting, request, path, count: () => rendered };
}

test("a picture is made once, and again as soon as its file or anything asked of it is another", async (t) => {
  const { pool, request, path, count } = prepare(t);
  const pictures = createPictureCache({ pool, memoryBytes: 1_000_000 });
  const first = await pictures.render(request, "layer");
  const second = await pictures.render(request, "layer");
  assert.deepEqual(second.bytes, first.bytes);
  assert.deepEqual([second.width, second.bbox, second.crs.id], [128, request.grid.bbox, "EPSG:3857"]);
  assert.equal(count(), 1);
  for (const other of [
    { ...request, rescale: [[0, 2000]] as const },
    { ...request, format: "webp" as const },
    { ...request, grid: { ...request.grid, width: 127 } },
  ]) {
    await pictures.render(other, "layer");
  }
  assert.equal(count(), 4);
  copyFileSync(join(SCENE, "B08.tif"), path);
  const changed = await pictures.render(request, "layer");
  assert.equal(count(), 5);
  assert.notDeepEqual(changed.bytes, first.bytes);
  rmSync(path);
  await assert.rejects(pictures.render(request, "layer"), { code: "not-found" });
});

test("memory is bounded: the least recently used pictures go", async (t) => {
  const { pool, request, count } = prepare(t);
  const { length } = (await createPictureCache({ pool, memoryBytes: 0 }).render(request, "layer")).bytes;
  const pictures = createPictureCache({ pool, memoryBytes: Math.round((length + 1024) * 1.5) });
  const flipped: ImageRequest = { ...request, rescale: [[0, 3001]] };
  await pictures.render(request, "layer");
  await pictures.render(flipped, "layer");
  await pictures.render(flipped, "layer");
  assert.equal(count(), 3);
  await pictures.render(request, "layer");
  assert.equal(count(), 4);
});

const FAULTS: Readonly<Record<string, RequestListener>> = {
  "is full": (request, response) => {
    request.resume();
    response.writeHead(request.method === "GET" ? 404 : 507).end();
  },
  "ends connections": (request) => request.destroy(),
  "gives what is no picture": (_request, response) => response.end("not one of ours"),
};

for (const [what, response] of Object.entries(FAULTS)) {
  test(`pictures are shown where their storage ${what}`, async (t) => {
    const { pool, request, count } = prepare(t);
    const server = createServer(response);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const store = createPictureStore({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      accessKeyId: "key",
      secretAccessKey: "secret",
      bucket: "pictures",
      onError: () => undefined,
    });
    const pictures = createPictureCache({ pool, memoryBytes: 0, store });
    for (const _ of [1, 2]) {
      assert.equal((await pictures.render(request, "layer")).isEmpty, false);
    }
    await store.close();
    assert.equal(count(), 2);
  });
}
