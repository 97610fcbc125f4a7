import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine, parseCrs } from "../src/index.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import type { Raster } from "../src/readers/raster.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { readGrid } from "../src/warp/read-grid.ts";
import { makeClimateHdf5, makeClimateZarr, serveFolder, valueAt } from "./cube-files.ts";
import { SCENES, gdalSkipReason, makeFolder, runGdal } from "./gdal.ts";

const BAND = join(SCENES, "maribor-0820/B04.tif");
const GRID = {
  crs: parseCrs("EPSG:3857"),
  bbox: [1_690_011, 5_825_013, 1_709_971, 5_844_977] as const,
  width: 200,
  height: 180,
};

const WAYS: Readonly<Record<string, readonly string[]>> = {
  "NetCDF-4, deflated chunks": ["-of", "netCDF", "-co", "FORMAT=NC4", "-co", "COMPRESS=DEFLATE"],
  "NetCDF-4, contiguous": ["-of", "netCDF", "-co", "FORMAT=NC4"],
  "NetCDF, classic": ["-of", "netCDF", "-co", "FORMAT=NC", "-ot", "Int32"],
  "NetCDF, 64-bit offsets": ["-of", "netCDF", "-co", "FORMAT=NC2", "-ot", "Float64"],
  "NetCDF-4, north at the top": ["-of", "netCDF", "-co", "FORMAT=NC4", "-co", "WRITE_BOTTOMUP=NO"],
  Zarr: ["-of", "Zarr"],
  "Zarr, blosc": ["-of", "Zarr", "-co", "COMPRESS=BLOSC", "-co", "BLOCKSIZE=100,90"],
  "Zarr, gzip": ["-of", "Zarr", "-co", "COMPRESS=GZIP"],
  "Zarr, zstd": ["-of", "Zarr", "-co", "COMPRESS=ZSTD"],
};

for (const [name, options] of Object.entries(WAYS)) {
  test(`the same pixels as in GeoTIFF: ${name}`, { skip: gdalSkipReason() }, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, options.includes("Zarr") ? "x.zarr" : "x.nc");
    runGdal("gdal_translate", ["-q", ...options, BAND, path]);
    const expected = await readOnGrid(await openRaster({ kind: "file", path: BAND }));
    const read = await readOnGrid(await openRaster({ kind: "file", path }));
    assert.deepEqual([...read.samples], [...expected.samples]);
    assert.ok(read.samples.some((value) => value > 0));
  });
}

async function readOnGrid(raster: Raster) {
  try {
    const { bands } = await readGrid(raster, new BlockCache(1e8), GRID, { bands: [0] });
    return bands[0]!;
  } finally {
    await raster.close();
  }
}

/** Pixels of the cell at 10° east, 40° north. */
const CELL = { crs: parseCrs("OGC:CRS84"), bbox: [9.9, 39.9, 10.1, 40.1] as const, width: 1, height: 1 };

for (const format of ["NetCDF", "Zarr"] as const) {
  test(`variables and positions of a cube are chosen by their names: ${format}`, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, format === "Zarr" ? "climate.zarr" : "climate.nc");
    await (format === "Zarr" ? makeClimateZarr(path) : makeClimateHdf5(path));
    const engine = new RasterEngine({ cacheBytes: 1e7 });
    t.after(() => engine.close());
    const location = { kind: "file" as const, path };
    const { info, bounds } = await engine.describe(location);
    assert.equal(info.format, format);
    assert.deepEqual(bounds, [-180, -90, 180, 90]);
    assert.equal(info.bands.length, 3 * 2 + 3);
    assert.deepEqual(
      info.bands.map(({ name, position }) => [name, position]),
      [
        ...["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2020-01-03T00:00:00Z"].flatMap((time) =>
          [850, 500].map((level) => ["tas", { time, level }]),
        ),
        ...["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2020-01-03T00:00:00Z"].map((time) => ["wind", { time }]),
      ],
    );
    const value = async (variable: string, position: Readonly<Record<string, string>>) => {
      const { planes } = await engine.pixels({
        scenes: [{ assets: { data: { location, variable, position } } }],
        grid: CELL,
        expressions: ["data"],
        unscale: true,
      });
      return planes[0]!.samples[0]!;
    };
    const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-3, `${a} is not ${b}`);
    near(await value("tas", { time: "2020-01-02T00:00:00Z", level: "500" }), valueAt(1, 1, 10, 40));
    near(await value("tas", { time: "2020-01-02", level: "500.0" }), valueAt(1, 1, 10, 40));
    near(await value("tas", { time: "2020-01-01/2020-01-02T12:00:00Z", level: "600" }), valueAt(1, 1, 10, 40));
    near(await value("tas", {}), valueAt(0, 0, 10, 40));
    near(await value("wind", { time: "2020-01-03", level: "500" }), valueAt(2, 0, 10, 40) / 10);
    await assert.rejects(value("rain", {}), /no variable "rain"; there are tas, wind/);
    assert.deepEqual(
      await engine.point({
        location,
        ...pointAt(10, 40),
        variable: "wind",
        position: { time: "2020-01-03" },
        unscale: true,
      }),
      [valueAt(2, 0, 10, 40) / 10],
    );
    // A picture of one time differs from that of another.
    const picture = (time: string) =>
      engine.image({
        scenes: [{ assets: { data: { location, variable: "tas", position: { time } } } }],
        grid: { crs: parseCrs("EPSG:3857"), bbox: [-1e7, -1e7, 1e7, 1e7], width: 64, height: 64 },
        rescale: [[0, 400]],
        format: "png",
      });
    const [first, last] = [await picture("2020-01-01"), await picture("2020-01-03")];
    assert.equal(first.isEmpty, false);
    assert.notDeepEqual(first.bytes, last.bytes);
  });
}

const pointAt = (x: number, y: number) => ({ crs: parseCrs("OGC:CRS84"), x, y });

test("cubes behind HTTP are read by ranges, from allowed hosts alone", async (t) => {
  const folder = makeFolder(t);
  await makeClimateHdf5(join(folder, "climate.nc"), 40);
  await makeClimateZarr(join(folder, "climate.zarr"));
  const { url, requests } = await serveFolder(t, folder);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const read = (name: string, allowPrivate: boolean) =>
    engine.pixels({
      scenes: [
        {
          assets: {
            data: { location: { kind: "http", url: `${url}/${name}`, ...(allowPrivate && { allowPrivate }) } },
          },
        },
      ],
      grid: CELL,
      expressions: ["data"],
    });
  for (const name of ["climate.nc", "climate.zarr"]) {
    await assert.rejects(read(name, false), { code: "forbidden" }, name);
  }
  assert.equal(requests.length, 0);
  for (const name of ["climate.nc", "climate.zarr"]) {
    const { planes } = await read(name, true);
    assert.ok(planes[0]!.mask[0]! > 0, name);
  }
  const size = readFileSync(join(folder, "climate.nc")).length;
  const bytes = requests.filter(({ path }) => path.endsWith(".nc")).reduce((sum, each) => sum + each.bytes, 0);
  assert.ok(bytes < size / 2, `${bytes} of ${size} bytes were read`);
});

test("a scene whose grid goes from 0 to 360 degrees is shown on both sides of its seam", async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "climate.nc");
  await makeClimateHdf5(path, 1, 0);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const { planes } = await engine.pixels({
    scenes: [{ assets: { data: { location: { kind: "file", path } } } }],
    grid: { crs: parseCrs("OGC:CRS84"), bbox: [-20, 35, 20, 45], width: 4, height: 1 },
    expressions: ["data"],
    unscale: true,
  });
  const expected = [-15, -5, 5, 15].map((x) => valueAt(0, 0, x, 40));
  assert.deepEqual(
    [...planes[0]!.samples].map((value) => Math.round(value)),
    expected.map(Math.round),
  );
  rmSync(path);
});

test("data that is not on a grid is told apart from damage; an array is read by its own address", async (t) => {
  const folder = makeFolder(t);
  await makeClimateZarr(join(folder, "climate.zarr"));
  const open = (path: string) => openRaster({ kind: "file", path: join(folder, path) });
  await assert.rejects(open("climate.zarr/time"), { code: "unsupported" });
  const array = await open("climate.zarr/tas/zarr.json");
  assert.deepEqual([...new Set(array.info.bands.map(({ name }) => name))], ["tas"]);
  await assert.rejects(open("none.zarr"), { code: "invalid-raster" });
  writeFileSync(join(folder, "x.nc"), "CDF\u0001");
  await assert.rejects(open("x.nc"), { code: "invalid-raster" });
});
