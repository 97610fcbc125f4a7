import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openRaster } from "../src/readers/open-raster.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { readWindow } from "../src/windows/read-window.ts";
import { SCENES, SHARED_DATA, gdalSkipReason, makeFolder, readWithGdal, runGdal, sharedSkipReason } from "./gdal.ts";

const BAND = join(SCENES, "maribor-0820/B04.tif");
const tif = (...options: readonly string[]) => options.flatMap((option) => ["-co", option]);

/** Ways to store the same pixels; bands are repeated where more than one is said. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  "plain strips": [],
  "strips of one row": tif("BLOCKYSIZE=1", "COMPRESS=DEFLATE"),
  "one strip": tif("BLOCKYSIZE=10000"),
  "one strip, big-endian": tif("BLOCKYSIZE=10000", "ENDIANNESS=BIG"),
  "tiles of odd size": tif("TILED=YES", "BLOCKXSIZE=48", "BLOCKYSIZE=80", "COMPRESS=LZW", "PREDICTOR=2"),
  "deflate, predictor, three bands": [
    "-b",
    "1",
    "-b",
    "1",
    "-b",
    "1",
    ...tif("TILED=YES", "COMPRESS=DEFLATE", "PREDICTOR=2"),
  ],
  "planes, zstd": ["-b", "1", "-b", "1", ...tif("TILED=YES", "COMPRESS=ZSTD", "INTERLEAVE=BAND")],
  "planes in strips": ["-b", "1", "-b", "1", ...tif("INTERLEAVE=BAND", "COMPRESS=PACKBITS")],
  "BigTIFF, big-endian, predictor": tif("BIGTIFF=YES", "ENDIANNESS=BIG", "COMPRESS=DEFLATE", "PREDICTOR=2"),
  LERC: tif("TILED=YES", "COMPRESS=LERC"),
  "LERC in deflate": tif("TILED=YES", "COMPRESS=LERC_DEFLATE"),
  "LERC in zstd, two bands": ["-b", "1", "-b", "1", ...tif("TILED=YES", "COMPRESS=LERC_ZSTD", "INTERLEAVE=PIXEL")],
  "LERC, alpha that is all or nothing": [
    "-ot",
    "Byte",
    ...["1", "1", "1", "1"].flatMap((band) => ["-b", band]),
    ...["0 4000", "0 2000", "4000 0", "700 701"].flatMap((range, at) => [
      `-scale_${at + 1}`,
      ...range.split(" "),
      "0",
      "255",
    ]),
    ...tif("COMPRESS=LERC", "PHOTOMETRIC=RGB", "ALPHA=YES"),
  ],
  "1 bit": ["-ot", "Byte", "-scale", "0", "20000", "0", "1", ...tif("NBITS=1")],
  "4 bits": ["-ot", "Byte", "-scale", "0", "20000", "0", "15", ...tif("NBITS=4", "COMPRESS=DEFLATE")],
  "12 bits": ["-scale", "0", "20000", "0", "4095", ...tif("NBITS=12", "COMPRESS=DEFLATE")],
  bytes: ["-ot", "Byte", "-scale", "0", "4000", "0", "255"],
  "16 bits signed": ["-ot", "Int16"],
  "32 bits unsigned, predictor": ["-ot", "UInt32", ...tif("COMPRESS=LZW", "PREDICTOR=2")],
  "32 bits signed": ["-ot", "Int32"],
  "floats, predictor": ["-ot", "Float32", ...tif("COMPRESS=DEFLATE", "PREDICTOR=3")],
  "floats, big-endian, predictor": ["-ot", "Float32", ...tif("COMPRESS=DEFLATE", "PREDICTOR=3", "ENDIANNESS=BIG")],
  "half floats": ["-ot", "Float32", "-scale", "0", "20000", "0", "1", ...tif("NBITS=16", "COMPRESS=DEFLATE")],
  "doubles, predictor, two bands": ["-ot", "Float64", "-b", "1", "-b", "1", ...tif("COMPRESS=ZSTD", "PREDICTOR=3")],
  "doubles as integers": ["-ot", "Float64", ...tif("COMPRESS=DEFLATE", "PREDICTOR=2")],
  "WebP, lossless": [
    "-ot",
    "Byte",
    "-scale",
    "0",
    "4000",
    "0",
    "255",
    "-b",
    "1",
    "-b",
    "1",
    "-b",
    "1",
    ...tif("TILED=YES", "COMPRESS=WEBP", "WEBP_LOSSLESS=TRUE"),
  ],
};

for (const [name, options] of Object.entries(WAYS)) {
  test(`TIFF as GDAL reads it: ${name}`, { skip: gdalSkipReason() }, async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, "x.tif");
    runGdal("gdal_translate", ["-q", ...options, BAND, path]);
    assert.equal(await countDifferences(path, folder), 0);
  });
}

test("complex samples are read as their amplitude", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "x.tif");
  for (const type of ["CInt16", "CFloat32", "CFloat64"]) {
    runGdal("gdal_translate", ["-q", "-ot", type, BAND, path]);
    const raster = await openRaster({ kind: "file", path });
    assert.equal(raster.info.bands[0]?.isComplex, true);
    await raster.close();
    assert.equal(await countDifferences(path, folder), 0, type);
  }
});

test(
  "JPEG in TIFF: tables apart, YCbCr and RGB, within what decoders differ",
  { skip: gdalSkipReason() },
  async (t) => {
    const folder = makeFolder(t);
    const path = join(folder, "x.tif");
    const rgb = ["-ot", "Byte", "-scale", "0", "4000", "0", "255", "-b", "1", "-b", "1", "-b", "1"];
    for (const options of [
      [...rgb, ...tif("TILED=YES", "COMPRESS=JPEG", "PHOTOMETRIC=YCBCR", "JPEG_QUALITY=95")],
      [...rgb, ...tif("TILED=YES", "COMPRESS=JPEG", "PHOTOMETRIC=RGB", "JPEG_QUALITY=95")],
      ["-ot", "Byte", "-scale", "0", "4000", "0", "255", ...tif("COMPRESS=JPEG")],
    ]) {
      runGdal("gdal_translate", ["-q", ...options, BAND, path]);
      assert.equal(await countDifferences(path, folder, 2), 0, options.join(" "));
    }
  },
);

test("sparse tiles are nodata", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "x.tif");
  runGdal("gdal_create", [
    "-of",
    "GTiff",
    "-outsize",
    "600",
    "400",
    "-bands",
    "2",
    "-ot",
    "Int16",
    "-a_nodata",
    "-5",
    ...tif("SPARSE_OK=TRUE", "TILED=YES"),
    path,
  ]);
  assert.equal(await countDifferences(path, folder), 0);
});

test("every sample scene is read as GDAL reads it", { skip: sharedSkipReason("rasters") }, async (t) => {
  const folder = makeFolder(t);
  const files = globSync("**/*.{tif,jp2}", { cwd: SHARED_DATA }).sort();
  assert.ok(files.length > 20);
  for (const file of files) {
    assert.equal(await countDifferences(join(SHARED_DATA, file), folder), 0, file);
  }
});

test("parts of a file are what they are of the whole", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "x.tif");
  runGdal("gdal_translate", [
    "-q",
    "-b",
    "1",
    "-b",
    "1",
    ...tif("TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=DEFLATE"),
    BAND,
    path,
  ]);
  const raster = await openRaster({ kind: "file", path });
  const cache = new BlockCache(1024 * 1024);
  const whole = readWithGdal(path, folder);
  const { width } = raster.info;
  for (const every of [1, 3]) {
    const part = await readWindow(raster, cache, { level: 0, x: 37, y: 61, width: 130, height: 71, bands: [1], every });
    for (let row = 0; row < part.height; row += 1) {
      for (let column = 0; column < part.width; column += 1) {
        const at = raster.info.width * raster.info.height + (61 + row * every) * width + 37 + column * every;
        assert.equal(part.planes[0]?.[row * part.width + column], whole[at]);
      }
    }
  }
  assert.ok(cache.bytes <= 1024 * 1024);
  await raster.close();
});

async function countDifferences(path: string, folder: string, tolerance = 0): Promise<number> {
  const raster = await openRaster({ kind: "file", path });
  try {
    const { width, height, bands } = raster.info;
    const { planes } = await readWindow(raster, new BlockCache(64 * 1024 * 1024), {
      level: 0,
      x: 0,
      y: 0,
      width,
      height,
      bands: bands.map((_, band) => band),
    });
    const expected = readWithGdal(path, folder);
    assert.equal(expected.length, width * height * bands.length);
    let different = 0;
    for (const [band, plane] of planes.entries()) {
      for (let at = 0; at < width * height; at += 1) {
        const [own, other] = [plane[at]!, expected[band * width * height + at]!];
        const isSame = Math.abs(own - other) <= tolerance || (Number.isNaN(own) && Number.isNaN(other));
        different += isSame ? 0 : 1;
      }
    }
    return different;
  } finally {
    await raster.close();
  }
}
