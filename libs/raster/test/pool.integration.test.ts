import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { type ImageRequest, RasterPool, parseCrs } from "../src/index.ts";
import { SCENES } from "./gdal.ts";

const scene = (path: string) => ({
  assets: { data: { location: { kind: "file" as const, path: join(SCENES, path) } } },
});
const REQUEST: ImageRequest = { scenes: [scene("lommel/B04.tif")], grid: { maxSize: 128 }, format: "png" };

function createPool(
  t: TestContext,
  options: { maxQueued?: number; timeoutMs?: number; threads?: number; concurrency?: number } = {},
): RasterPool {
  const pool = new RasterPool({ threads: 2, cacheBytes: 32 * 1024 * 1024, ...options });
  t.after(() => pool.close());
  return pool;
}

/** A server that accepts and never answers. */
async function serveNothing(t: TestContext): Promise<{ url: string; open: () => number }> {
  let open = 0;
  const server = createServer((_request, response) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, open: () => open };
}

const waiting = (url: string): ImageRequest => ({
  ...REQUEST,
  scenes: [{ assets: { data: { location: { kind: "http", url, allowPrivate: true } } } }],
});

test("many requests at once are all answered, alike", async (t) => {
  const pool = createPool(t);
  const results = await Promise.all(Array.from({ length: 40 }, () => pool.image(REQUEST)));
  for (const { bytes, isEmpty, width } of results) {
    assert.deepEqual(bytes, results[0]?.bytes);
    assert.equal(isEmpty, false);
    assert.equal(width, 64);
  }
});

test("errors keep their code; a bad request does no harm to others", async (t) => {
  const pool = createPool(t, { threads: 1 });
  const [good, bad, missing, expression] = await Promise.allSettled([
    pool.image(REQUEST),
    pool.image({ ...REQUEST, expressions: ["b7"] }),
    pool.image({ ...REQUEST, scenes: [scene("lommel/none.tif")] }),
    pool.image({ ...REQUEST, expressions: ["b1.constructor"] }),
  ]);
  assert.equal(good.status, "fulfilled");
  assert.equal(bad.status === "rejected" && bad.reason.code, "invalid-request");
  assert.equal(missing.status === "rejected" && missing.reason.code, "not-found");
  assert.equal(expression.status === "rejected" && expression.reason.code, "invalid-request");
});

test("a full queue refuses", async (t) => {
  const pool = createPool(t, { threads: 1, concurrency: 1, maxQueued: 2 });
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => pool.image(REQUEST)));
  const codes = results.map((result) => (result.status === "rejected" ? result.reason.code : "ok"));
  assert.deepEqual(codes, ["ok", "ok", "ok", "busy", "busy", "busy"]);
});

test("a source that does not answer costs the time that is allowed, and others go on", async (t) => {
  // Long enough for the other one, which has a thread to start.
  const pool = createPool(t, { threads: 1, timeoutMs: 6000 });
  const { url } = await serveNothing(t);
  const slow = pool.image(waiting(url));
  const fast = pool.image(REQUEST);
  await assert.rejects(slow, { code: "timeout" });
  assert.equal((await fast).isEmpty, false);
});

test("a source that never answers is let go of when nobody waits for it any more, without ending the thread", async (t) => {
  const faults: Error[] = [];
  const pool = new RasterPool({ threads: 1, cacheBytes: 1e7, onError: (error) => faults.push(error) });
  t.after(() => pool.close());
  const { url, open } = await serveNothing(t);
  const [first, second] = [new AbortController(), new AbortController()];
  const results = [first, second].map((each) => pool.image(waiting(url), each.signal));
  await waitUntil("the source to be asked", async () => open() > 0);
  first.abort();
  await assert.rejects(results[0]!, { code: "cancelled" });
  // Somebody still waits.
  assert.equal((await pool.image(REQUEST)).isEmpty, false);
  assert.equal(open(), 1);
  second.abort();
  await assert.rejects(results[1]!, { code: "cancelled" });
  await waitUntil("the source to be let go of", async () => open() === 0);
  assert.equal((await pool.image(REQUEST)).isEmpty, false);
  assert.deepEqual(faults, []);
});

test("a cancelled request lets go of its source", async (t) => {
  const pool = createPool(t, { threads: 1, concurrency: 1 });
  const { url, open } = await serveNothing(t);
  const controller = new AbortController();
  const slow = pool.image(waiting(url), controller.signal);
  const queued = pool.image(REQUEST);
  while (open() === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  controller.abort();
  await assert.rejects(slow, { code: "cancelled" });
  assert.equal((await queued).isEmpty, false);
});

test("a coverage comes in parts, and leaving it ends the work", async (t) => {
  const pool = createPool(t);
  const request = {
    scenes: [scene("lommel/B04.tif")],
    grid: { crs: parseCrs("EPSG:3857"), maxSize: 1000 },
    maxPixels: 1e7,
  };
  const parts: Uint8Array[] = [];
  for await (const part of pool.coverage(request)) {
    parts.push(part);
  }
  assert.equal(Buffer.from(parts[0] ?? []).toString("latin1", 0, 2), "II");
  for await (const part of pool.coverage(request)) {
    assert.ok(part.length > 0);
    break;
  }
  await assert.rejects(
    async () => {
      for await (const part of pool.coverage({ ...request, maxPixels: 10 })) {
        assert.ok(part);
      }
    },
    { code: "too-large" },
  );
});
