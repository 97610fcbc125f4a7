import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine } from "../src/engine/engine.ts";
import { parseCrs } from "../src/warp/crs.ts";
import { SCENES, gdalSkipReason, makeFolder, runGdal } from "./gdal.ts";

const BAND = join(SCENES, "maribor-0820/B04.tif");

test("formats of data hold every band of a file in its own type", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const [path, written] = [join(folder, "x.tif"), join(folder, "y.tif")];
  const bands = Array.from({ length: 8 }, () => ["-b", "1"]).flat();
  runGdal("gdal_translate", ["-q", ...bands, "-srcwin", "0", "0", "60", "50", "-co", "INTERLEAVE=BAND", BAND, path]);
  const engine = new RasterEngine({ cacheBytes: 0 });
  t.after(() => engine.close());
  const scenes = [{ assets: { data: { location: { kind: "file", path } } } }] as const;
  const { bytes } = await engine.image({ scenes, grid: {}, format: "npy" });
  assert.match(Buffer.from(bytes.subarray(0, 128)).toString("latin1"), /'<u2'.*'shape': \(9, 50, 60\)/);
  writeFileSync(written, (await engine.image({ scenes, grid: {}, format: "tif" })).bytes);
  const info = JSON.parse(runGdal("gdalinfo", ["-json", written])) as { bands: readonly { type: string }[] };
  assert.deepEqual(
    info.bands.map(({ type }) => type),
    Array.from({ length: 8 }, () => "UInt16"),
  );
});

test("a point is found in files from 0° to 360° and over the antimeridian", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "x.tif");
  const engine = new RasterEngine({ cacheBytes: 0 });
  t.after(() => engine.close());
  const crs = parseCrs("OGC:CRS84");
  for (const [west, east, x] of [
    [0, 360, -90],
    [170, 190, -175],
    [-190, -170, 175],
  ] as const) {
    const place = [String(west), "20", String(east), "0"];
    runGdal("gdal_translate", [
      "-q",
      "-srcwin",
      "0",
      "0",
      "60",
      "50",
      "-a_nodata",
      "none",
      "-a_srs",
      "EPSG:4326",
      "-a_ullr",
      ...place,
      BAND,
      path,
    ]);
    const [column, row] = [Math.floor((((x - west + 360) % 360) / (east - west)) * 60), 25];
    const expected = runGdal("gdallocationinfo", ["-valonly", path, String(column), String(row)]).trim();
    const values = await engine.point({ location: { kind: "file", path }, crs, x, y: 9.9 });
    assert.deepEqual(values, [Number(expected)], `${west} to ${east}`);
  }
});
