// Every raster of a set of real scenes against GDAL: warped to each system with each resampling; written as a cloud-optimised file, which
// gdalinfo and rio-cogeo look at. RASTER_PYTHON=<python> names one that has rio-cogeo already.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createWriteStream, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, test } from "node:test";

import { RasterEngine } from "../../libs/raster/src/index.ts";
import { openRaster } from "../../libs/raster/src/readers/open-raster.ts";
import { SYSTEMS, compareWarps, toGrid } from "../../libs/raster/test/compare-warps.ts";
import { gdalSkipReason, runGdal } from "../../libs/raster/test/gdal.ts";

const DATA = process.env["SWATH_TEST_DATA"] ?? "/usr/share/swath-test-data";
const VALIDATE = `
import sys
from rio_cogeo.cogeo import cog_validate
bad = 0
for path in sys.argv[1:]:
    is_valid, errors, warnings = cog_validate(path, strict=True)
    if not is_valid:
        bad += 1
        print(path, errors, warnings)
print("checked", len(sys.argv) - 1)
sys.exit(1 if bad else 0)
`;
const folder = mkdtempSync(join(tmpdir(), "swath-suite-"));
after(() => rmSync(folder, { recursive: true }));

const files = existsSync(DATA) ? globSync("**/*.{tif,jp2}", { cwd: DATA }).toSorted() : [];
const skip =
  gdalSkipReason() ||
  (files.length === 0 ? `needs scenes below ${DATA}; name their folder with SWATH_TEST_DATA` : false);
const python = skip === false ? findPython() : undefined;

for (const file of files) {
  test(`as gdalwarp does, in every system by every resampling: ${file}`, { skip }, async (t) => {
    const raster = await openRaster({ kind: "file", path: join(DATA, file) });
    t.after(() => raster.close());
    if (raster.info.transform === undefined && raster.info.gcps === undefined) {
      t.skip("the file does not say where it is");
      return;
    }
    t.diagnostic(`${await compareWarps(raster, join(DATA, file), { folder, all: true })} compared`);
  });
}

test(
  "every scene in every system as a file: where and what it should be, and cloud-optimised",
  { skip: skip || (python === undefined ? "needs python3 with venv, and the registry PyPI" : false) },
  async (t) => {
    const engine = new RasterEngine({ cacheBytes: 1e8 });
    t.after(() => engine.close());
    const written: string[] = [];
    for (const file of files) {
      const path = join(DATA, file);
      const raster = await openRaster({ kind: "file", path });
      const grids =
        raster.info.transform === undefined && raster.info.gcps === undefined
          ? []
          : SYSTEMS.flatMap((system) => toGrid(raster, path, system) ?? []).filter(({ crs }) =>
              // Files are written for systems with a code only.
              crs.id.startsWith("EPSG:"),
            );
      await raster.close();
      for (const small of grids) {
        // Large enough for tiles and overviews.
        const grid = { ...small, width: small.width * 3, height: Math.min(2000, small.height * 3) };
        const out = join(folder, `${written.length}.tif`);
        const scenes = [{ assets: { data: { location: { kind: "file" as const, path } } } }];
        const parts = engine.coverage({ scenes, grid, expressions: ["b1"], maxPixels: 1e7 });
        await pipeline(Readable.from(parts), createWriteStream(out));
        written.push(out);
        const info = JSON.parse(runGdal("gdalinfo", ["-json", out])) as {
          size: number[];
          geoTransform: number[];
          coordinateSystem: { wkt: string };
        };
        assert.deepEqual(info.size, [grid.width, grid.height], file);
        const [minX, minY, maxX, maxY] = grid.bbox;
        const expected = [minX, (maxX - minX) / grid.width, 0, maxY, 0, (minY - maxY) / grid.height];
        for (const [at, value] of info.geoTransform.entries()) {
          const wanted = expected[at]!;
          assert.ok(Math.abs(value - wanted) <= Math.abs(wanted) * 1e-9, `${file}: ${info.geoTransform.join(" ")}`);
        }
        assert.match(info.coordinateSystem.wkt, new RegExp(`ID\\["EPSG",${grid.crs.id.slice(5)}\\]\\]$`), file);
      }
    }
    assert.ok(written.length > files.length, `${written.length} files were written`);
    const { status, stdout, stderr } = spawnSync(python!, ["-c", VALIDATE, ...written], { encoding: "utf8" });
    assert.equal(status, 0, `${stdout.slice(0, 4000)}${stderr.slice(-2000)}`);
    t.diagnostic(`${written.length} files`);
  },
);

function findPython(): string | undefined {
  const provided = process.env["RASTER_PYTHON"];
  if (provided !== undefined) {
    return provided;
  }
  const place = join(folder, "venv");
  const isMade =
    spawnSync("python3", ["-m", "venv", place]).status === 0 &&
    spawnSync(join(place, "bin/pip"), ["install", "-q", "--disable-pip-version-check", "rio-cogeo==7.0.4"]).status ===
      0;
  return isMade ? join(place, "bin/python") : undefined;
}
