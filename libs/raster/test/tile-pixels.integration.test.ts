// Tiles of a raster whose pixels all differ from their neighbours: a nearest pixel that is taken from beside the right one is seen.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openRaster } from "../src/readers/open-raster.ts";
import { parseCrs } from "../src/warp/crs.ts";
import type { Grid } from "../src/warp/grid.ts";
import { readGrid } from "../src/warp/read-grid.ts";
import { createReproject } from "../src/warp/reproject.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { compareBand, warpWithGdal } from "./compare-warps.ts";
import { gdalSkipReason, makeFolder, runGdal } from "./gdal.ts";

const SIZE = 900;
const HALF_WORLD = 20_037_508.342_789_244;
/** Points may be off by a thousandth of a pixel: as many of them may fall on the other side of an edge. */
const MAX_SHARE = 0.001;

const cases = [
  { system: "EPSG:32621", resolution: 100, longitude: -60.5, latitude: 73.4, zoom: 8 },
  { system: "EPSG:32633", resolution: 600, longitude: 16, latitude: 46, zoom: 7 },
  { system: "EPSG:3035", resolution: 1200, longitude: 20, latitude: 50, zoom: 6 },
  { system: "EPSG:3413", resolution: 400, longitude: -40, latitude: 72, zoom: 7 },
  { system: "EPSG:4326", resolution: 0.02, longitude: 10, latitude: 60, zoom: 5 },
] as const;

for (const { system, resolution, longitude, latitude, zoom } of cases) {
  test(
    `a tile of zoom ${zoom} has the pixels of ${system} that gdalwarp takes`,
    { skip: gdalSkipReason() },
    async (t) => {
      const folder = makeFolder(t);
      const path = makeRaster(folder, system, resolution, moveTo(system, longitude, latitude));
      const raster = await openRaster({ kind: "file", path });
      t.after(() => raster.close());
      const grid = toTile(longitude, latitude, zoom);
      const expected = warpWithGdal(path, grid, "EPSG:3857", "nearest", folder);
      const { bands } = await readGrid(raster, new BlockCache(1e7), grid, { bands: [0] });
      const { different, edges, valid } = compareBand(expected, bands[0]!.samples, bands[0]!.mask);
      t.diagnostic(`${different} of ${valid} pixels differ, ${edges} are there in one alone`);
      assert.ok(valid > 20_000, `${valid}`);
      assert.ok(different <= valid * MAX_SHARE && edges <= 5, `${different} of ${valid}, ${edges} at edges`);
    },
  );
}

function moveTo(system: string, longitude: number, latitude: number): readonly [x: number, y: number] {
  const [xs, ys] = [Float64Array.of(longitude), Float64Array.of(latitude)];
  createReproject(parseCrs("OGC:CRS84"), parseCrs(system))(xs, ys);
  return [xs[0]!, ys[0]!];
}

/** Around a point; each value is that of no pixel nearby. */
function makeRaster(folder: string, system: string, resolution: number, [x, y]: readonly [number, number]): string {
  const [raw, vrt, path] = ["values.raw", "values.vrt", "values.tif"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(
    raw,
    Uint16Array.from({ length: SIZE * SIZE }, (_, at) => 1 + (at % 65_521)),
  );
  const reach = (SIZE / 2) * resolution;
  writeFileSync(
    vrt,
    `<VRTDataset rasterXSize="${SIZE}" rasterYSize="${SIZE}"><VRTRasterBand dataType="UInt16" band="1" subClass="VRTRawRasterBand">
    <SourceFilename relativeToVRT="1">values.raw</SourceFilename><ByteOrder>LSB</ByteOrder></VRTRasterBand></VRTDataset>`,
  );
  const corners = [x - reach, y + reach, x + reach, y - reach].map(String);
  runGdal("gdal_translate", ["-q", "-a_srs", system, "-a_ullr", ...corners, "-co", "TILED=YES", vrt, path]);
  return path;
}

/** The tile of Web Mercator that a point is in. */
function toTile(longitude: number, latitude: number, zoom: number): Grid {
  const [x, y] = moveTo("EPSG:3857", longitude, latitude);
  const side = (2 * HALF_WORLD) / 2 ** zoom;
  const [column, row] = [Math.floor((x + HALF_WORLD) / side), Math.floor((HALF_WORLD - y) / side)];
  const [west, north] = [column * side - HALF_WORLD, HALF_WORLD - row * side];
  return { crs: parseCrs("EPSG:3857"), bbox: [west, north - side, west + side, north], width: 256, height: 256 };
}
