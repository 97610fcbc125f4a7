import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine } from "../src/engine/engine.ts";
import { parseCrs } from "../src/warp/crs.ts";
import { SCENES, gdalSkipReason, makeFolder, readWithGdal, runGdal } from "./gdal.ts";

const [WIDTH, HEIGHT] = [300, 200];

/** Files that do not say where they are, by each way of not doing so. */
function makeFiles(folder: string): readonly { readonly path: string; readonly bounds: readonly number[] }[] {
  const at = (name: string) => join(folder, name);
  const make = (name: string, options: readonly string[]) => {
    const window = ["-srcwin", "100", "50", String(WIDTH), String(HEIGHT)];
    // Without side files, in which GDAL would keep the place.
    runGdal("gdal_translate", [
      "-q",
      "--config",
      "GDAL_PAM_ENABLED",
      "NO",
      ...window,
      ...options,
      join(SCENES, "maribor-0820/B04.tif"),
      at(name),
    ]);
    return at(name);
  };
  const pixels = [0, -HEIGHT, WIDTH, 0];
  const plain = make("plain.tif", ["-co", "PROFILE=BASELINE"]);
  const tiled = make("tiled.tif", ["-co", "PROFILE=BASELINE", "-co", "TILED=YES", "-co", "COMPRESS=DEFLATE"]);
  runGdal("gdaladdo", ["-q", "-r", "average", tiled, "2", "4"]);
  const system = at("system.tif");
  runGdal("gdal_translate", ["-q", "-a_srs", "EPSG:32633", plain, system]);
  const placed = at("placed.tif");
  runGdal("gdal_translate", ["-q", "-a_ullr", "1000", "900", "1600", "500", plain, placed]);
  const jpeg = make("plain.jp2", [
    "-of",
    "JP2OpenJPEG",
    "-co",
    "QUALITY=100",
    "-co",
    "REVERSIBLE=YES",
    "-co",
    "GMLJP2=NO",
    "-co",
    "GeoJP2=NO",
  ]);
  return [
    { path: plain, bounds: pixels },
    { path: tiled, bounds: pixels },
    { path: system, bounds: pixels },
    { path: placed, bounds: [1000, 500, 1600, 900] },
    { path: jpeg, bounds: pixels },
  ];
}

test("reads rasters without georeference in their own pixels, as GDAL does", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  for (const { path, bounds } of makeFiles(folder)) {
    await t.test(path.slice(folder.length + 1), async () => {
      const scenes = [{ assets: { data: { location: { kind: "file" as const, path } } } }];
      const described = await engine.describe(scenes[0]!.assets.data.location);
      assert.deepEqual(described.bounds, bounds);
      assert.equal(described.geographicBounds, undefined);
      const expected = readWithGdal(path, folder);
      const whole = await engine.pixels({ scenes, grid: {}, expressions: ["b1"] });
      assert.deepEqual([whole.grid.width, whole.grid.height], [WIDTH, HEIGHT]);
      assert.deepEqual([...whole.planes[0]!.samples], [...expected]);
      const { b1 } = await engine.statistics({ scenes, grid: {}, expressions: ["b1"] });
      assert.equal(
        b1!.max,
        expected.reduce((a, b) => Math.max(a, b)),
      );

      // Columns 20 to 70 and rows 30 to 60, in the system of the raster.
      const [minX = 0, minY = 0, maxX = 0, maxY = 0] = bounds;
      const [sizeX, sizeY] = [(maxX - minX) / WIDTH, (maxY - minY) / HEIGHT];
      const bbox = [minX + 20 * sizeX, maxY - 60 * sizeY, minX + 70 * sizeX, maxY - 30 * sizeY] as const;
      const part = await engine.pixels({ scenes, grid: { bbox }, expressions: ["b1"] });
      assert.deepEqual([part.grid.width, part.grid.height], [50, 30]);
      const rows = Array.from({ length: 30 }, (_, row) => {
        const from = (row + 30) * WIDTH + 20;
        return [...expected.subarray(from, from + 50)];
      });
      assert.deepEqual([...part.planes[0]!.samples], rows.flat());

      // What is written of it does not say more than it does.
      const { bytes } = await engine.image({ scenes, grid: { bbox }, format: "tif" });
      writeFileSync(join(folder, "written.tif"), bytes);
      const info = JSON.parse(runGdal("gdalinfo", ["-json", join(folder, "written.tif")])) as {
        readonly geoTransform?: readonly number[];
        readonly coordinateSystem?: { readonly wkt: string };
      };
      assert.equal(info.coordinateSystem?.wkt ?? "", "");
      assert.deepEqual(info.geoTransform, bounds[0] === 0 ? undefined : [bbox[0], sizeX, 0, bbox[3], 0, -sizeY]);

      // No place on Earth is made up.
      const mercator = parseCrs("EPSG:3857");
      const degrees = parseCrs("OGC:CRS84");
      for (const grid of [
        { crs: mercator },
        { crs: mercator, bbox, width: 10, height: 10 },
        { bbox, bboxCrs: degrees },
      ]) {
        await assert.rejects(engine.pixels({ scenes, grid, expressions: ["b1"] }), { code: "unsupported" });
      }
      await assert.rejects(engine.point({ location: scenes[0]!.assets.data.location, crs: degrees, x: 1, y: 1 }), {
        code: "unsupported",
      });
    });
  }
});

test("lays rasters without georeference over each other only where their pixels fit", async (t) => {
  const folder = makeFolder(t);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  if (gdalSkipReason() !== false) {
    t.skip(String(gdalSkipReason()));
    return;
  }
  const [plain, , , placed] = makeFiles(folder).map(({ path }) => path);
  const twin = join(folder, "twin.tif");
  copyFileSync(plain!, twin);
  const half = join(folder, "half.tif");
  runGdal("gdal_translate", ["-q", "-outsize", "50%", "50%", "-co", "PROFILE=BASELINE", plain!, half]);
  const add = (other: string) =>
    engine.pixels({
      scenes: [
        {
          assets: {
            a: { location: { kind: "file", path: plain! } },
            b: { location: { kind: "file", path: other } },
          },
        },
      ],
      grid: {},
      expressions: ["a - b"],
    });
  assert.ok((await add(twin)).planes[0]!.samples.every((value) => value === 0));
  for (const other of [half, placed!]) {
    await assert.rejects(add(other), { code: "unsupported" }, other);
  }
});
