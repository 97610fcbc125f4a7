import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { boundsOf } from "../src/engine/resolve-grid.ts";
import type { Raster } from "../src/readers/raster.ts";
import { parseCrs } from "../src/warp/crs.ts";
import type { Bbox, Grid } from "../src/warp/grid.ts";
import { readGrid } from "../src/warp/read-grid.ts";
import { RESAMPLINGS, type Resampling } from "../src/warp/resample.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { runGdal } from "./gdal.ts";

const MISSING = -7777;
export const SYSTEMS = ["EPSG:3857", "EPSG:4326", "EPSG:3035", "EPSG:3031", "own"] as const;

/**
 * Share of pixels whose difference counts: nearest may differ where a point falls on an edge between pixels to a thousandth of a
 * pixel. Means may differ by a share of the spread of the values, since kernels widen by slightly other factors.
 */
const MAX_NEAREST_SHARE = 0.004;
const MAX_MEAN_SHARE: Readonly<Record<Exclude<Resampling, "nearest">, number>> = {
  bilinear: 0.03,
  cubic: 0.04,
  average: 0.06,
};
const MAX_EDGE_SHARE = 0.002;
/** GDAL widens kernels by the boxes around grids: where those are turned against each other, by more than pixels are apart. */
const TURNED: readonly string[] = ["EPSG:3031", "EPSG:3035"];
const TURNED_FACTOR = 5;
/** Averages of parts of a pixel are those of whole pixels with GDAL. */
const MAGNIFIED_FACTOR = 2.5;
/** Fewer pixels are no picture: scenes over the antimeridian in Web Mercator. */
const MIN_HEIGHT = 10;

/**
 * Warps the first band of a file to each system with each resampling, and compares with what gdalwarp makes of it; gives how many were
 * compared. `all`: every resampling in every system, not in Web Mercator and the file's own alone.
 */
export async function compareWarps(
  raster: Raster,
  path: string,
  { folder, all = false }: { readonly folder: string; readonly all?: boolean },
): Promise<number> {
  const cache = new BlockCache(64 * 1024 * 1024);
  let compared = 0;
  for (const system of SYSTEMS) {
    const grid = toGrid(raster, path, system);
    if (grid === undefined) {
      continue;
    }
    for (const resampling of RESAMPLINGS) {
      if (!all && resampling !== "nearest" && system !== "EPSG:3857" && system !== "own") {
        continue;
      }
      const expected = warpWithGdal(path, grid, system === "own" ? undefined : system, resampling, folder);
      const { bands } = await readGrid(raster, cache, grid, { bands: [0], resampling, ignoreOverviews: true });
      checkSame(
        compareBand(expected, bands[0]!.samples, bands[0]!.mask),
        resampling,
        (TURNED.includes(system) ? TURNED_FACTOR : 1) * (raster.info.width < grid.width ? MAGNIFIED_FACTOR : 1),
        grid.width + grid.height,
        `${path} ${system} ${resampling}`,
      );
      compared += 1;
    }
  }
  return compared;
}

/** The grid of a file in a system; `undefined` where it is no picture there. */
export function toGrid(raster: Raster, path: string, system: (typeof SYSTEMS)[number]): Grid | undefined {
  const crs = system === "own" ? (raster.info.crs ?? parseCrs("EPSG:4326")) : parseCrs(system);
  const bbox = boundsOf(raster.info, crs);
  // What is half a world away from a projection's centre, or all around its pole, is no picture.
  if (
    bbox === undefined ||
    (path.includes("dateline") && system === "EPSG:3857") ||
    bbox.some((value) => Math.abs(value) > 1.5e7 && system !== "EPSG:3857")
  ) {
    return undefined;
  }
  const width = 240;
  const height = Math.max(1, Math.round((width * (bbox[3] - bbox[1])) / (bbox[2] - bbox[0])));
  return height < MIN_HEIGHT ? undefined : { crs, bbox: shift(bbox), width, height };
}

function checkSame(
  { different, edges, extra, valid, meanShare }: ReturnType<typeof compareBand>,
  resampling: Resampling,
  factor: number,
  border: number,
  name: string,
): void {
  const what = `${name}: ${different} of ${valid} differ, ${edges} at edges (${extra} more), mean ${meanShare}`;
  if (resampling === "nearest") {
    assert.ok(different <= valid * MAX_NEAREST_SHARE, what);
    assert.ok(edges <= Math.max(5, valid * MAX_EDGE_SHARE), what);
  } else {
    assert.ok(meanShare <= MAX_MEAN_SHARE[resampling] * factor, what);
    const most = Math.max(5, valid * MAX_EDGE_SHARE);
    if (resampling === "average") {
      // GDAL also fills pixels that end up to one source pixel before the first column or row.
      assert.ok(extra <= most * factor && edges - extra <= most * factor + border, what);
    } else {
      assert.ok(edges <= most, what);
    }
  }
}

/** Away from edges of source pixels, where either neighbour is the nearest. */
function shift([minX, minY, maxX, maxY]: Bbox): Bbox {
  const [x, y] = [(maxX - minX) * Math.SQRT1_2, (maxY - minY) * Math.SQRT1_2];
  return [minX - x / 97, minY - y / 89, maxX + x / 83, maxY + y / 79];
}

export function warpWithGdal(
  path: string,
  { bbox, width, height }: Grid,
  system: string | undefined,
  resampling: Resampling,
  folder: string,
  more: readonly string[] = ["-ovr", "NONE"],
): Float64Array {
  const raw = join(folder, "warped.raw");
  rmSync(raw, { force: true });
  runGdal("gdalwarp", [
    "-q",
    "-of",
    "ENVI",
    "-et",
    "0",
    "-ot",
    "Float64",
    "-dstnodata",
    String(MISSING),
    "-r",
    resampling === "nearest" ? "near" : resampling,
    "-te",
    ...bbox.map(String),
    "-ts",
    String(width),
    String(height),
    ...(system === undefined ? [] : ["-t_srs", system]),
    ...more,
    path,
    raw,
  ]);
  const bytes = readFileSync(raw);
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + width * height * 8));
}

export function compareBand(expected: Float64Array, samples: ArrayLike<number>, mask: Uint8Array) {
  let [different, edges, extra, valid, sum, total, squares] = [0, 0, 0, 0, 0, 0, 0];
  for (let at = 0; at < mask.length; at += 1) {
    const value = expected[at]!;
    const exists = value !== MISSING && !Number.isNaN(value);
    if (exists !== mask[at]! > 0) {
      edges += 1;
      extra += exists ? 0 : 1;
    } else if (exists) {
      valid += 1;
      total += value;
      squares += value * value;
      const difference = Math.abs(value - samples[at]!);
      different += difference > 0 ? 1 : 0;
      sum += difference;
    }
  }
  const spread = Math.sqrt(Math.max(1e-9, squares / valid - (total / valid) ** 2));
  // Half a unit is what rounding may make of whole numbers.
  return { different, edges, extra, valid, meanShare: Math.max(0, sum / valid - 0.5) / spread };
}
