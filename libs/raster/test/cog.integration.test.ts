import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine, encodeCog, parseCrs } from "../src/index.ts";
import { SCENES, gdalSkipReason, makeFolder, readWithGdal, runGdal } from "./gdal.ts";

const scene = (name: string) => ({
  assets: Object.fromEntries(
    ["B04", "B08"].map((band) => [
      band,
      { location: { kind: "file" as const, path: join(SCENES, name, `${band}.tif`) } },
    ]),
  ),
});

const validator = ["-m", "osgeo_utils.samples.validate_cloud_optimized_geotiff"];
const validatorSkipReason = () =>
  gdalSkipReason() ||
  (spawnSync("/usr/bin/python3", ["-c", "import osgeo_utils"]).status === 0
    ? false
    : "the validator of COGs is not installed (package python3-gdal)");

test("written files are cloud-optimised, where and what they should be", { skip: validatorSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const engine = new RasterEngine({ cacheBytes: 1e8 });
  t.after(() => engine.close());
  for (const [name, request] of Object.entries({
    integers: { expressions: ["B04", "B08"], crs: "EPSG:3857" },
    floats: { expressions: ["(B08 - B04) / (B08 + B04)"], crs: "EPSG:4326" },
    "north first": { expressions: ["B04"], crs: "EPSG:3035" },
  })) {
    const path = join(folder, "x.tif");
    const parts: Uint8Array[] = [];
    const grid = { crs: parseCrs(request.crs), width: 1300, height: 1100 };
    for await (const part of engine.coverage({
      scenes: [scene("maribor-0820")],
      grid,
      expressions: request.expressions,
      maxPixels: 1e7,
    })) {
      parts.push(part);
    }
    writeFileSync(path, Buffer.concat(parts));
    const { status, stdout, stderr } = spawnSync("/usr/bin/python3", [...validator, path], { encoding: "utf8" });
    assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
    const info = JSON.parse(runGdal("gdalinfo", ["-json", path])) as {
      size: number[];
      coordinateSystem: { wkt: string };
      metadata: { IMAGE_STRUCTURE: Record<string, string> };
      bands: { overviews: unknown[]; type: string; noDataValue: unknown }[];
    };
    assert.deepEqual(info.size, [1300, 1100]);
    assert.equal(info.metadata.IMAGE_STRUCTURE["LAYOUT"], "COG");
    assert.match(info.coordinateSystem.wkt, new RegExp(`ID\\["EPSG",${request.crs.slice(5)}\\]\\]$`));
    assert.equal(info.bands.length, request.expressions.length);
    assert.equal(info.bands[0]?.type, name === "floats" ? "Float32" : "UInt16");
    assert.equal(info.bands[0]?.overviews.length, 2);
    // Read back by GDAL, it is what is read in one piece here.
    const image = await engine.image({
      scenes: [scene("maribor-0820")],
      grid,
      expressions: request.expressions,
      format: "npy",
    });
    const header = Buffer.from(image.bytes).readUInt16LE(8) + 10;
    const body = new Uint8Array(image.bytes.subarray(header)).buffer;
    const own = name === "floats" ? new Float32Array(body) : new Uint16Array(body);
    const pixels = 1300 * 1100;
    const read = readWithGdal(path, folder);
    let different = 0;
    for (let at = 0; at < pixels * request.expressions.length; at += 1) {
      const exists = own[pixels * request.expressions.length + (at % pixels)] !== 0;
      different += exists && read[at] !== own[at] ? 1 : 0;
    }
    assert.ok(different <= pixels * 0.003, `${name}: ${different} differ`);
  }
});

test("a file with a mask is valid, and its overviews can be averages", { skip: validatorSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "mask.tif");
  const [width, height] = [1200, 700];
  const samples = Uint8Array.from({ length: width * height }, (_, at) => (at % 2 === 0 ? 10 : 20));
  const mask = Uint8Array.from(samples, (_, at) => (at % width < 600 ? 255 : 0));
  const grid = { crs: parseCrs("EPSG:32633"), bbox: [0, 0, width, height], width, height } as const;
  const rows = async (first: number, count: number) => [
    {
      samples: samples.subarray(first * width, (first + count) * width),
      mask: mask.subarray(first * width, (first + count) * width),
      type: "uint8" as const,
    },
  ];
  await writeFile(path, encodeCog(grid, rows, { type: "uint8", hasMask: true, overviews: "average", bands: [{}] }));
  const { status, stdout, stderr } = spawnSync("/usr/bin/python3", [...validator, path], { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  const half = join(folder, "half.tif");
  runGdal("gdal_translate", ["-q", "-oo", "OVERVIEW_LEVEL=0", path, half]);
  const values = readWithGdal(half, folder);
  assert.equal(values.length, 600 * 350);
  assert.ok(values.every((value, at) => at % 600 >= 300 || value === 15));
  const halfMask = join(folder, "half-mask.tif");
  runGdal("gdal_translate", ["-q", "-b", "mask", half, halfMask]);
  assert.ok(readWithGdal(halfMask, folder).every((value, at) => value === (at % 600 < 300 ? 255 : 0)));
});
