import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  type Bbox,
  type ImageRequest,
  RasterEngine,
  RasterPool,
  type Scene,
  parseCrs,
} from "../libs/raster/src/index.ts";
import { median } from "./median.ts";
import { type Case, type Window, measureGdal } from "./raster-gdal.ts";
import { LEFT, PIXEL, SIZE, TOP, makeScene, scenesFolder } from "./raster-scene.ts";
import type { BenchRow } from "./types.ts";

const WINDOWS = 20;
const CLIENTS = 8;
const PARALLEL_TILES = 400;
const ALL = [[0, 4000]] as const;
const own = parseCrs("EPSG:32633");
const mercator = parseCrs("EPSG:3857");

/**
 * Tiles of a scene of 5,490² pixels, 16 bits, 3 bands: cloud-optimised, deflate with predictor, tiles of 512. The peer is GDAL in one
 * process (its Python bindings): the same windows, warped or resampled in memory and encoded as PNG, with its own cache of blocks.
 */
export async function bench(): Promise<BenchRow[]> {
  if (spawnSync("gdalinfo", ["--version"]).status !== 0) {
    throw new Error("GDAL's programs make the files: install gdal-bin and python3-gdal");
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  const engine = new RasterEngine({ cacheBytes: 512 * 1024 * 1024 });
  const pool = new RasterPool({ threads: 2, cacheBytes: 512 * 1024 * 1024 });
  try {
    const path = makeScene(folder);
    const scene: Scene = { assets: { data: { location: { kind: "file", path } } } };
    const cases = toCases();
    const peer = measureGdal(folder, path, cases);
    const rows: BenchRow[] = [];
    for (const [name, { windows, crs, aimWarm, aimFirst }] of Object.entries(cases)) {
      const render = (bbox: Bbox, size: number) =>
        engine.image({
          scenes: [scene],
          grid: { crs, bbox, width: size, height: size },
          expressions: ["b1", "b2", "b3"],
          rescale: ALL,
          format: "png",
        });
      await render(windows[0]!.bbox, 16);
      engine.cache.clear();
      const first = await measure(windows, ({ bbox, size }) => render(bbox, size));
      const warm = Math.min(
        median(await measure(windows, ({ bbox, size }) => render(bbox, size))),
        median(await measure(windows, ({ bbox, size }) => render(bbox, size))),
      );
      rows.push(
        row(`${name}, warm`, warm, peer?.[name]?.warm, aimWarm),
        row(`${name}, first`, median(first), peer?.[name]?.first, aimFirst),
      );
    }
    rows.push(
      await benchParallel(pool, scene),
      ...(await benchRemote(path)),
      await benchMosaic(engine, folder, path),
      await benchIndex(engine),
      await benchCoverage(engine, folder, path, scene),
    );
    return rows;
  } finally {
    await engine.close();
    await pool.close();
    rmSync(folder, { recursive: true });
  }
}

function toCases(): Readonly<Record<string, Case>> {
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed / 2 ** 32;
  };
  const place = (size: number, resolution: number, isWarped: boolean): Window => {
    const span = size * resolution;
    const x = LEFT + random() * (SIZE * PIXEL - span);
    const y = TOP - SIZE * PIXEL + random() * (SIZE * PIXEL - span);
    if (!isWarped) {
      return { bbox: [x, y, x + span, y + span], size };
    }
    // About where the same place is: the exact one does not matter.
    const [mx, my] = [1_669_800 + (x - LEFT) * 1.45, 5_806_500 + (y - (TOP - SIZE * PIXEL)) * 1.45];
    return { bbox: [mx, my, mx + span, my + span], size };
  };
  const many = (count: number, size: number, resolution: number, isWarped: boolean) =>
    Array.from({ length: count }, () => place(size, resolution, isWarped));
  return {
    "256² warped to EPSG:3857": {
      windows: many(WINDOWS, 256, 38, true),
      crs: mercator,
      aimWarm: "≤ 5 ms",
      aimFirst: "≤ 17 ms",
    },
    "256² native, full resolution": { windows: many(WINDOWS, 256, 10, false), crs: own, aimWarm: "≤ 6 ms" },
    "256² native, a quarter of it": { windows: many(WINDOWS, 256, 40, false), crs: own, aimWarm: "≤ 6 ms" },
    "1024² warped to EPSG:3857": { windows: many(6, 1024, 24, true), crs: mercator, aimWarm: "≤ 100 ms" },
    "1024² native, a quarter": { windows: many(6, 1024, 40, false), crs: own, aimWarm: "≤ 65 ms" },
  };
}

async function benchParallel(pool: RasterPool, scene: Scene): Promise<BenchRow> {
  const windows = toCases()["256² native, a quarter of it"]!.windows;
  const request = (at: number): ImageRequest => ({
    scenes: [scene],
    grid: { crs: own, bbox: windows[at % windows.length]!.bbox, width: 256, height: 256 },
    expressions: ["b1", "b2", "b3"],
    rescale: ALL,
    format: "png",
  });
  const runAll = async (count: number) => {
    let next = 0;
    const started = performance.now();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < count) {
          const at = next;
          next += 1;
          await pool.image(request(at));
        }
      }),
    );
    return (count / (performance.now() - started)) * 1000;
  };
  await runAll(80);
  const rates = [await runAll(PARALLEL_TILES), await runAll(PARALLEL_TILES)];
  return {
    name: "tiles of 256² for 8 clients",
    value: Math.max(...rates),
    unit: "tiles/s",
    aim: "≥ 350",
    note: "two threads, the better of two runs; MapServer measured earlier: 237",
  };
}

/** What the first tile of a file behind HTTP costs. */
async function benchRemote(path: string): Promise<BenchRow[]> {
  const file = readFileSync(path);
  let [requests, bytes] = [0, 0];
  const server = createServer((request, response) => {
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
    const body = file.subarray(from, to + 1);
    requests += 1;
    bytes += body.length;
    response
      .writeHead(206, { "content-range": `bytes ${from}-${from + body.length - 1}/${file.length}`, etag: '"1"' })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const engine = new RasterEngine({ cacheBytes: 1e8 });
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scene.tif`;
    await engine.image({
      scenes: [{ assets: { data: { location: { kind: "http", url, allowPrivate: true } } } }],
      grid: {
        crs: own,
        bbox: [LEFT + 5120 * 2, TOP - 5120 * 3 + 10, LEFT + 5120 * 3 - 10, TOP - 5120 * 2],
        width: 256,
        height: 256,
      },
      rescale: ALL,
      format: "png",
    });
    return [
      { name: "first tile of a remote file: requests", value: requests, unit: "requests", aim: "≤ 2" },
      {
        name: "first tile of a remote file: read",
        value: bytes / 1024,
        unit: "KiB",
        note: "a page of 32 KiB for the header, the rest is the tile",
      },
    ];
  } finally {
    await engine.close();
    server.closeAllConnections();
    server.close();
  }
}

async function benchMosaic(engine: RasterEngine, folder: string, path: string): Promise<BenchRow> {
  // Each scene leaves a strip open, so that all of them are read.
  const scenes: Scene[] = Array.from({ length: 20 }, (_, index) => {
    const part = join(folder, `part-${index}.tif`);
    execFileSync("gdal_translate", [
      "-q",
      "-of",
      "COG",
      "-co",
      "COMPRESS=DEFLATE",
      "-co",
      "PREDICTOR=2",
      "-co",
      "OVERVIEWS=NONE",
      "-srcwin",
      String(index * 40),
      "0",
      "400",
      "1000",
      path,
      part,
    ]);
    return { assets: { data: { location: { kind: "file", path: part } } } };
  });
  const render = () =>
    engine.image({
      scenes,
      grid: { crs: own, bbox: [LEFT, TOP - 10_000, LEFT + 12_000, TOP], width: 256, height: 256 },
      expressions: ["b1", "b2", "b3"],
      rescale: ALL,
      format: "png",
    });
  await render();
  const times = await measure(Array.from({ length: 10 }), render);
  return { name: "tile of a mosaic of 20 overlapping scenes", value: median(times), unit: "ms", aim: "≤ 60 ms" };
}

async function benchIndex(engine: RasterEngine): Promise<BenchRow> {
  const scene: Scene = {
    assets: Object.fromEntries(
      ["B04", "B08"].map((band) => [
        band,
        { location: { kind: "file", path: join(scenesFolder, "lommel", `${band}.tif`) } },
      ]),
    ),
  };
  const render = () =>
    engine.image({
      scenes: [scene],
      grid: { crs: mercator, bbox: [582_000, 6_660_000, 586_000, 6_664_000], width: 256, height: 256 },
      expressions: ["(B08 - B04) / (B08 + B04)"],
      rescale: [[-0.2, 1]],
      colormap: { kind: "named", name: "rdylgn" },
      format: "png",
    });
  await render();
  return {
    name: "NDVI over two assets, 256² warped",
    value: median(await measure(Array.from({ length: 20 }), render)),
    unit: "ms",
    aim: "≤ 12 ms",
  };
}

async function benchCoverage(engine: RasterEngine, folder: string, path: string, scene: Scene): Promise<BenchRow> {
  const side = 4096 * PIXEL;
  const out = join(folder, "coverage.tif");
  const gdalStarted = performance.now();
  await new Promise((resolve) =>
    spawn("gdal_translate", [
      "-q",
      "-of",
      "COG",
      "-co",
      "COMPRESS=DEFLATE",
      "-co",
      "PREDICTOR=2",
      "-co",
      "BLOCKSIZE=512",
      "-projwin",
      String(LEFT),
      String(TOP),
      String(LEFT + side),
      String(TOP - side),
      path,
      out,
    ]).on("close", resolve),
  );
  const gdal = performance.now() - gdalStarted;
  const started = performance.now();
  let bytes = 0;
  for await (const part of engine.coverage({
    scenes: [scene],
    grid: { crs: own, bbox: [LEFT, TOP - side, LEFT + side, TOP], width: 4096, height: 4096 },
    expressions: ["b1", "b2", "b3"],
    maxPixels: 1e8,
  })) {
    bytes += part.length;
  }
  const took = performance.now() - started;
  return {
    name: "4096² × 3 to COG",
    value: took,
    unit: "ms",
    aim: "≤ 1.2 × gdal_translate",
    peer: { name: "gdal_translate", value: gdal },
    ratio: took / gdal,
    note: `${Math.round(bytes / 1e6)} MB, its ${existsSync(out) ? Math.round(statSync(out).size / 1e6) : 0} MB`,
  };
}

async function measure<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (const item of items) {
    const started = performance.now();
    await work(item);
    times.push(performance.now() - started);
  }
  return times;
}

function row(name: string, value: number, peer: number | undefined, aim: string | undefined): BenchRow {
  return {
    name,
    value,
    unit: "ms",
    ...(aim !== undefined && { aim }),
    ...(peer !== undefined && { peer: { name: "GDAL, one process", value: peer }, ratio: value / peer }),
  };
}
