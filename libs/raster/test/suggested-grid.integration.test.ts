import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine, parseCrs } from "../src/index.ts";
import { gdalSkipReason, runGdal } from "./gdal.ts";

const FILE = join(import.meta.dirname, "../../../examples/scenes/maribor-0820/B04.tif");

interface Described {
  readonly size: readonly [number, number];
  readonly geoTransform: readonly number[];
}

test("grids and files in other systems are those of gdalwarp", { skip: gdalSkipReason() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-grids-"));
  const engine = new RasterEngine({ cacheBytes: 2 ** 26 });
  t.after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  const scenes = [{ assets: { data: { location: { kind: "file", path: FILE } } } }] as const;
  const describe = (path: string) => JSON.parse(runGdal("gdalinfo", ["-json", path])) as Described;
  for (const id of [
    "EPSG:4326",
    "EPSG:3857",
    "EPSG:3035",
    "+proj=tmerc +lat_0=0 +lon_0=15 +k_0=1 +x_0=500000 +y_0=0 +a=6378137 +rf=298.257223563 +no_defs",
  ]) {
    const expected = join(folder, "expected.tif");
    runGdal("gdalwarp", ["-q", "-overwrite", "-t_srs", id, FILE, expected]);
    const { size, geoTransform } = describe(expected);
    const crs = parseCrs(id);
    const { width, height, bbox, bytes } = await engine.image({ scenes, grid: { crs }, format: "tif" });
    // The last pixel of a side is rounded up here, and to the nearest there.
    assert.ok(width - size[0] >= 0 && width - size[0] <= 1 && height - size[1] >= 0 && height - size[1] <= 1, id);
    const cell = geoTransform[1]!;
    assert.ok(Math.abs((bbox[2] - bbox[0]) / width / cell - 1) < 1e-3, `${id}: ${width} ${size.join(" ")}`);
    assert.ok(Math.abs(bbox[0] - geoTransform[0]!) < cell && Math.abs(bbox[3] - geoTransform[3]!) < cell, id);
    const own = join(folder, "own.tif");
    writeFileSync(own, bytes);
    const [mine, theirs] = [own, expected].map((path) =>
      runGdal("gdalsrsinfo", ["-o", "proj4", path])
        .toString()
        .trim()
        .replace(/\+k=1 /, "+k=1 "),
    );
    const figure = (text = "") => text.replace(/\+(datum|ellps)=\w+/, "");
    assert.equal(figure(mine), figure(theirs), id);
  }
});
