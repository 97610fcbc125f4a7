// TIFFs of every combination of layout, type, compression, kind of missing pixels and colours, in two systems, with and without overviews,
// against GDAL: each value, mask, statistics, an overview and a warped window. A fixed sample of them, or all 2,100:
//
//     SWATH_CORPUS=whole tools/node libs/raster/test/corpus.integration.test.ts
//
// which takes 6 minutes on a quiet machine, and more than the runner of tests gives a file on a busy one.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { RasterEngine, parseCrs } from "../src/index.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { readWindow } from "../src/windows/read-window.ts";
import { makeFolder } from "./gdal.ts";

const PYTHON = "/usr/bin/python3";
// oxlint-disable-next-line node/no-process-env -- how much is tried is the caller's to say
const every = process.env["SWATH_CORPUS"] === "whole" ? 1 : 29;
/** Differences that are shown: each as it is found, since the whole corpus takes long and may be stopped. */
const MAX_SHOWN = 40;
const PROGRESS = 100;
const skip =
  spawnSync(PYTHON, ["-c", "from osgeo import gdal_array"]).status === 0
    ? false
    : "GDAL's bindings for Python are not installed (package python3-gdal)";

interface Case {
  readonly path: string;
  readonly number: number;
  readonly of: number;
  readonly name: string;
  readonly count: number;
  readonly hasOverviews: boolean;
  readonly statistics: Readonly<Record<"min" | "max" | "mean" | "std" | "count", number>>;
  readonly box: readonly [number, number, number, number];
}

test(
  `${every === 1 ? "all TIFFs" : "a sample of the TIFFs"} of the corpus are as GDAL reads them`,
  { skip },
  async (t) => {
    const folder = makeFolder(t);
    const engine = new RasterEngine({ cacheBytes: 1e7 });
    t.after(() => engine.close());
    const made = spawn(PYTHON, [join(import.meta.dirname, "make-corpus.py"), folder, String(every), "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const wrong: string[] = [];
    let [count, all] = [0, 0];
    for await (const line of createInterface({ input: made.stdout })) {
      const each = JSON.parse(line) as Case;
      [count, all] = [count + 1, each.of];
      if (count % PROGRESS === 0) {
        process.stderr.write(`${count} files compared, ${wrong.length} differences\n`);
      }
      for (const difference of [...(await compareValues(each)), ...(await compareRequests(engine, each))]) {
        wrong.push(`${each.name}: ${difference}`);
        if (wrong.length <= MAX_SHOWN) {
          process.stderr.write(`${each.number} of ${all}: ${wrong.at(-1)}\n`);
        }
      }
    }
    assert.ok(all >= 2000 && count === Math.ceil(all / every), `${count} of ${all} were made`);
    assert.deepEqual(wrong.slice(0, MAX_SHOWN), [], `${wrong.length} differences in ${count} files`);
    t.diagnostic(`${count} of ${all} files compared`);
  },
);

const sideOf = ({ path }: Case, name: string): string => path.replace(/tif$/, name);

function floatsOf(path: string): Float64Array {
  const { buffer, byteOffset, length } = readFileSync(path);
  return new Float64Array(buffer.slice(byteOffset, byteOffset + length));
}

/** The file as it is stored: the values of each band, and GDAL's mask of each. */
async function compareValues(each: Case): Promise<readonly string[]> {
  const raster = await openRaster({ kind: "file", path: each.path });
  const { width, height, bands, levels } = raster.info;
  const request = { level: 0, x: 0, y: 0, width, height, bands: bands.map((_, band) => band) };
  const { planes, mask } = await readWindow(raster, new BlockCache(0), request);
  const [expected, masks] = [floatsOf(sideOf(each, "values")), readFileSync(sideOf(each, "masks"))];
  const wrong: string[] = [];
  for (const [band, plane] of planes.entries()) {
    const { nodata, color } = bands[band]!;
    let [values, missing] = [0, 0];
    for (let at = 0; at < plane.length; at += 1) {
      const there = plane[at] !== nodata && (color === "alpha" || mask === undefined || mask[at] !== 0);
      values += plane[at] === expected[band * plane.length + at] ? 0 : 1;
      missing += there === (masks[band * plane.length + at] !== 0) ? 0 : 1;
    }
    wrong.push(...(values > 0 ? [`${values} values of band ${band + 1}`] : []));
    wrong.push(...(missing > 0 ? [`${missing} pixels of the mask of band ${band + 1}`] : []));
  }
  if (each.hasOverviews) {
    const { width: w, height: h } = levels[1] ?? { width: 0, height: 0 };
    const small = await readWindow(raster, new BlockCache(0), {
      ...request,
      level: 1,
      width: w,
      height: h,
      bands: [0],
    });
    const overview = floatsOf(sideOf(each, "overview"));
    const isSame = overview.length === w * h && overview.every((value, at) => small.planes[0]![at] === value);
    wrong.push(...(isSame ? [] : ["overview"]));
  }
  await raster.close();
  return wrong;
}

/** What requests get: statistics of the first band, and a window in another system. */
async function compareRequests(engine: RasterEngine, each: Case): Promise<readonly string[]> {
  const scenes = [{ assets: { data: { location: { kind: "file" as const, path: each.path } } } }];
  const { b1 } = await engine.statistics({ scenes, grid: {}, expressions: ["b1"] });
  const wrong = Object.entries(each.statistics).flatMap(([name, value]) =>
    Math.abs(b1![name as "min"] - value) <= 1e-9 * Math.abs(value)
      ? []
      : [`${name} ${b1![name as "min"]}, not ${value}`],
  );
  const grid = { crs: parseCrs("EPSG:3857"), bbox: each.box, width: 40, height: 30 };
  const { planes } = await engine.pixels({ scenes, grid, expressions: ["b1"] });
  const [window, { samples, mask }] = [floatsOf(sideOf(each, "window")), planes[0]!];
  const alpha = window.subarray(window.length - samples.length);
  let different = 0;
  for (let at = 0; at < samples.length; at += 1) {
    const isThere = alpha[at] !== 0;
    different += isThere === (mask[at] !== 0) && (!isThere || samples[at] === window[at]) ? 0 : 1;
  }
  // A pixel whose centre lies on the edge of two may be either of them.
  return different > samples.length * 0.01 ? [...wrong, `${different} pixels of the warped window`] : wrong;
}
