import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { boundsOf } from "../src/engine/resolve-grid.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import { parseCrs } from "../src/warp/crs.ts";
import type { Bbox, Grid } from "../src/warp/grid.ts";
import { readGrid } from "../src/warp/read-grid.ts";
import { RESAMPLINGS, type Resampling } from "../src/warp/resample.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { SCENES, SHARED_DATA, gdalSkipReason, makeFolder, runGdal, sharedSkipReason } from "./gdal.ts";

const MISSING = -7777;
const SYSTEMS = ["EPSG:3857", "EPSG:4326", "EPSG:3035", "EPSG:3031", "own"] as const;

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

const files = [
  { folder: SCENES, file: "maribor-0820/B04.tif" },
  { folder: SCENES, file: "canberra/B3.tif" },
  { folder: SCENES, file: "lommel/B08.tif" },
  ...[
    "dem/srtmgl1-kempen.tif",
    "sentinel1-camargue/VV_db.tif",
    "landsat7-olinda/L7_ETMs.tif",
    "rasters/cog_gcps.tif",
    "rasters/cog_rgb_mask.tif",
    "rasters/cog_dateline.tif",
  ].map((file) => ({
    folder: SHARED_DATA,
    file,
  })),
];

for (const { folder, file } of files) {
  test(
    `warped as gdalwarp does: ${file}`,
    { skip: folder === SCENES ? gdalSkipReason() : sharedSkipReason(file) },
    async (t) => {
      const temporary = makeFolder(t);
      const path = join(folder, file);
      const raster = await openRaster({ kind: "file", path });
      t.after(() => raster.close());
      const cache = new BlockCache(64 * 1024 * 1024);
      for (const system of SYSTEMS) {
        const crs = system === "own" ? (raster.info.crs ?? parseCrs("EPSG:4326")) : parseCrs(system);
        const bbox = boundsOf(raster.info, crs);
        // What is half a world away from a projection's centre, or all around its pole, is no picture.
        if (
          bbox === undefined ||
          (file.includes("dateline") && system === "EPSG:3857") ||
          bbox.some((value) => Math.abs(value) > 1.5e7 && system !== "EPSG:3857")
        ) {
          continue;
        }
        const width = 240;
        const grid: Grid = {
          crs,
          bbox: shift(bbox),
          width,
          height: Math.max(1, Math.round((width * (bbox[3] - bbox[1])) / (bbox[2] - bbox[0]))),
        };
        for (const resampling of RESAMPLINGS) {
          if (resampling !== "nearest" && system !== "EPSG:3857" && system !== "own") {
            continue;
          }
          const expected = warpWithGdal(path, grid, system === "own" ? undefined : system, resampling, temporary);
          const { bands } = await readGrid(raster, cache, grid, { bands: [0], resampling, ignoreOverviews: true });
          const { different, edges, valid, meanShare } = compare(expected, bands[0]!.samples, bands[0]!.mask);
          const what = `${file} ${system} ${resampling}: ${different} of ${valid} differ, ${edges} at edges, mean ${meanShare}`;
          if (resampling === "nearest") {
            assert.ok(different <= valid * MAX_NEAREST_SHARE, what);
            assert.ok(edges <= Math.max(5, valid * MAX_EDGE_SHARE), what);
          } else {
            assert.ok(meanShare <= MAX_MEAN_SHARE[resampling], what);
            // Averages of GDAL also fill pixels that are covered by less than their half.
            assert.ok(edges <= valid * (resampling === "average" ? 0.05 : MAX_EDGE_SHARE), what);
          }
        }
      }
    },
  );
}

test("an overview gives what gdalwarp takes from it", { skip: sharedSkipReason("rasters/cog.tif") }, async (t) => {
  const temporary = makeFolder(t);
  const path = join(SHARED_DATA, "rasters/cog.tif");
  const raster = await openRaster({ kind: "file", path });
  t.after(() => raster.close());
  const crs = parseCrs("EPSG:32621");
  const bbox = boundsOf(raster.info, crs)!;
  const [, half] = raster.info.levels;
  const grid: Grid = { crs, bbox, width: half!.width, height: half!.height };
  const expected = warpWithGdal(path, grid, undefined, "nearest", temporary, ["-ovr", "0"]);
  const { bands } = await readGrid(raster, new BlockCache(1e8), grid, { bands: [0] });
  assert.equal(compare(expected, bands[0]!.samples, bands[0]!.mask).different, 0);
});

/** Away from edges of source pixels, where either neighbour is the nearest. */
function shift([minX, minY, maxX, maxY]: Bbox): Bbox {
  const [x, y] = [(maxX - minX) * Math.SQRT1_2, (maxY - minY) * Math.SQRT1_2];
  return [minX - x / 97, minY - y / 89, maxX + x / 83, maxY + y / 79];
}

function warpWithGdal(
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

function compare(expected: Float64Array, samples: ArrayLike<number>, mask: Uint8Array) {
  let [different, edges, valid, sum, total, squares] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < mask.length; at += 1) {
    const value = expected[at]!;
    const isThere = value !== MISSING && !Number.isNaN(value);
    if (isThere !== mask[at]! > 0) {
      edges += 1;
    } else if (isThere) {
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
  return { different, edges, valid, meanShare: Math.max(0, sum / valid - 0.5) / spread };
}
