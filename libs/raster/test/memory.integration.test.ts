// Memory of pictures is used again: no picture may show another one, and nothing may be kept longer than somebody needs it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { waitUntil } from "@swath/testing";

import { type ImageRequest, RasterEngine, RasterError, RasterPool } from "../src/index.ts";
import { SCENES } from "./gdal.ts";

const scene = (path: string) => ({
  assets: { data: { location: { kind: "file" as const, path: join(SCENES, path) } } },
});

const REQUESTS: readonly ImageRequest[] = ["lommel/B04.tif", "lommel/B08.tif", "maribor-0820/B04.tif"].flatMap((path) =>
  [150, 256, 300].flatMap((maxSize) =>
    (["nearest", "bilinear", "average"] as const).map((resampling): ImageRequest => ({
      scenes: [scene(path), scene("maribor-0818/B04.tif")],
      grid: { maxSize },
      expressions: resampling === "average" ? ["b1 * 2"] : ["b1", "b1", "b1"],
      rescale: [[0, 4000]],
      resampling,
      format: resampling === "bilinear" ? "webp" : "png",
    })),
  ),
);

test("pictures that are made at the same time, and after others, are those that are made alone", async () => {
  const alone = await Promise.all(
    REQUESTS.map(async (request) => {
      const engine = new RasterEngine({ cacheBytes: 1e8 });
      try {
        return (await engine.image(request)).bytes;
      } finally {
        await engine.close();
      }
    }),
  );
  const engine = new RasterEngine({ cacheBytes: 1e8 });
  try {
    for (let round = 0; round < 3; round += 1) {
      const controller = new AbortController();
      const left = REQUESTS.map((request) => engine.image(request, controller.signal));
      const together = Promise.all(REQUESTS.map((request) => engine.image(request)));
      controller.abort();
      const ends = await Promise.allSettled(left);
      assert.ok(ends.some((end) => end.status === "rejected" && end.reason instanceof RasterError));
      for (const [at, { bytes }] of (await together).entries()) {
        assert.ok(Buffer.from(bytes).equals(alone[at]!), `request ${at}, round ${round}`);
      }
    }
  } finally {
    await engine.close();
  }
});

test("a picture is let go of as soon as its request is", async (t) => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const pool = new RasterPool({ threads: 1, cacheBytes: 1e7, timeoutMs: 600_000 });
  t.after(() => pool.close());
  const make = async () => new WeakRef(await pool.image(REQUESTS[0]!, new AbortController().signal));
  const pictures = await Promise.all(Array.from({ length: 5 }, make));
  await waitUntil("the pictures to be collected", () => {
    collect();
    return pictures.every((picture) => picture.deref() === undefined);
  });
});
