import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { boundsOf } from "../src/engine/resolve-grid.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import { parseCrs } from "../src/warp/crs.ts";
import type { Grid } from "../src/warp/grid.ts";
import { readGrid } from "../src/warp/read-grid.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { compareBand, compareWarps, warpWithGdal } from "./compare-warps.ts";
import { SCENES, SHARED_DATA, gdalSkipReason, makeFolder, runGdal, sharedSkipReason } from "./gdal.ts";

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
      assert.ok((await compareWarps(raster, path, { folder: temporary })) > 0);
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
  assert.equal(compareBand(expected, bands[0]!.samples, bands[0]!.mask).different, 0);
});

test(
  "an average is there where GDAL's is: where any pixel below has a value",
  { skip: gdalSkipReason() },
  async (t) => {
    const temporary = makeFolder(t);
    const path = join(temporary, "holes.tif");
    // Vegetation, which is everywhere in between, is made nothing.
    runGdal("gdal_translate", ["-q", "-a_nodata", "4", join(SCENES, "maribor-0820/SCL.tif"), path]);
    const raster = await openRaster({ kind: "file", path });
    t.after(() => raster.close());
    for (const system of ["own", "EPSG:3857"] as const) {
      const crs = system === "own" ? raster.info.crs! : parseCrs(system);
      const [minX, minY, maxX, maxY] = boundsOf(raster.info, crs)!;
      const [x, y] = [(maxX - minX) / 9, (maxY - minY) / 9];
      const grid: Grid = { crs, bbox: [minX + x, minY + y, maxX - x, maxY - y], width: 71, height: 67 };
      const expected = warpWithGdal(path, grid, system === "own" ? undefined : system, "average", temporary);
      const { bands } = await readGrid(raster, new BlockCache(1e8), grid, {
        bands: [0],
        resampling: "average",
        ignoreOverviews: true,
      });
      const { edges, valid } = compareBand(expected, bands[0]!.samples, bands[0]!.mask);
      assert.ok(valid > 1000, `${system}: ${valid}`);
      assert.ok(edges <= valid * 0.002, `${system}: ${edges} of ${valid} are there in one of both alone`);
    }
  },
);
