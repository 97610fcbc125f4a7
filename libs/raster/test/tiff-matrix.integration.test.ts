import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { RasterError } from "../src/errors.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import { BlockCache } from "../src/windows/block-cache.ts";
import { readWindow } from "../src/windows/read-window.ts";
import { SCENES, gdalSkipReason, makeFolder, readWithGdal, runGdal } from "./gdal.ts";

const [WIDTH, HEIGHT] = [150, 130];
const LAYOUTS: Readonly<Record<string, readonly string[]>> = {
  "strips of 16": ["BLOCKYSIZE=16"],
  "strips of 1": ["BLOCKYSIZE=1"],
  "one strip": ["BLOCKYSIZE=130"],
  tiles: ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=48"],
  "planes in tiles": ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "INTERLEAVE=BAND"],
  "planes in strips": ["BLOCKYSIZE=16", "INTERLEAVE=BAND"],
};
const JPEG_LAYOUTS = ["strips of 16", "tiles", "planes in tiles"];

interface Kind {
  readonly photometric: string;
  readonly bands: number;
  readonly compressions: readonly string[];
  readonly options?: readonly string[];
  /** The colour space needs a conversion, which nobody does. */
  readonly isRefused?: boolean;
}

const LOSSLESS = ["NONE", "DEFLATE", "LZW"];
const KINDS: readonly Kind[] = [
  { photometric: "MINISBLACK", bands: 1, compressions: [...LOSSLESS, "JPEG", "PACKBITS", "ZSTD", "LERC"] },
  { photometric: "MINISBLACK", bands: 3, compressions: ["DEFLATE", "JPEG"] },
  { photometric: "MINISBLACK", bands: 4, compressions: ["LZW", "JPEG"] },
  { photometric: "MINISBLACK", bands: 5, compressions: ["NONE", "ZSTD"] },
  { photometric: "MINISWHITE", bands: 1, compressions: ["DEFLATE", "JPEG"] },
  { photometric: "RGB", bands: 3, compressions: [...LOSSLESS, "JPEG", "WEBP"] },
  { photometric: "RGB", bands: 4, compressions: ["DEFLATE", "JPEG", "WEBP"], options: ["ALPHA=YES"] },
  { photometric: "RGB", bands: 4, compressions: ["LZW", "JPEG"], options: ["ALPHA=NO"] },
  { photometric: "RGB", bands: 5, compressions: ["DEFLATE"] },
  { photometric: "YCBCR", bands: 3, compressions: ["JPEG"] },
  { photometric: "CMYK", bands: 4, compressions: ["DEFLATE", "JPEG"], isRefused: true },
  { photometric: "CIELAB", bands: 3, compressions: ["DEFLATE"], isRefused: true },
];

/** Files and what their values are scaled from and to. */
const SOURCES = [
  ["B04", "0", "4000", "0", "255"],
  ["B08", "0", "5000", "0", "255"],
  ["B04", "200", "1500", "0", "255"],
  ["B08", "500", "3000", "255", "0"],
  ["SCL", "0", "11", "0", "255"],
  ["B04", "700", "701", "0", "1"],
] as const;

interface Source {
  readonly path: string;
  /** All pixels of its bands, one after another; the last band is a mask. */
  readonly values: Float64Array;
}

const PIXELS = WIDTH * HEIGHT;
const MASK_BAND = 5;

/** Five different bands of bytes, and a sixth that is 0 and other. */
function makeSource(folder: string): Source {
  const bands = SOURCES.map(([name, ...scale], at) => {
    const path = join(folder, `${at}.tif`);
    runGdal("gdal_translate", [
      "-q",
      "-ot",
      "Byte",
      "-scale",
      ...scale,
      "-srcwin",
      "10",
      "20",
      String(WIDTH),
      String(HEIGHT),
      join(SCENES, "maribor-0820", `${name}.tif`),
      path,
    ]);
    return path;
  });
  const path = join(folder, "source.vrt");
  runGdal("gdalbuildvrt", ["-q", "-separate", path, ...bands]);
  return { path, values: readWithGdal(path, folder) };
}

for (const { photometric, bands, compressions, options = [], isRefused = false } of KINDS) {
  const title = `${photometric} of ${bands} bands${options.length > 0 ? ` (${options.join()})` : ""}`;
  test(
    `TIFF ${title}: ${isRefused ? "refused" : "values and masks are GDAL's"}`,
    { skip: gdalSkipReason() },
    async (t) => {
      const folder = makeFolder(t);
      const source = makeSource(folder);
      const path = join(folder, "x.tif");
      for (const compression of compressions) {
        for (const [layout, layoutOptions] of Object.entries(LAYOUTS)) {
          const isPlanar = layoutOptions.includes("INTERLEAVE=BAND");
          const isLossy = compression === "JPEG";
          if (
            (isPlanar && (bands === 1 || photometric === "YCBCR" || compression === "WEBP")) ||
            ((isLossy || compression === "WEBP") && !JPEG_LAYOUTS.includes(layout))
          ) {
            continue;
          }
          for (const isMasked of [false, true]) {
            const name = `${title}, ${compression}, ${layout}${isMasked ? ", mask" : ""}`;
            const creation = [
              `PHOTOMETRIC=${photometric}`,
              `COMPRESS=${compression}`,
              ...layoutOptions.map((each) => (isLossy && each === "BLOCKYSIZE=48" ? "BLOCKYSIZE=64" : each)),
              ...options,
              ...(isLossy ? ["JPEG_QUALITY=95"] : compression === "WEBP" ? ["WEBP_LOSSLESS=TRUE"] : []),
            ];
            runGdal("gdal_translate", [
              "-q",
              ...Array.from({ length: bands }, (_, band) => ["-b", String(band + 1)]).flat(),
              ...(isMasked ? ["-mask", "6", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES"] : []),
              ...creation.flatMap((option) => ["-co", option]),
              source.path,
              path,
            ]);
            if (isRefused) {
              await assert.rejects(
                openRaster({ kind: "file", path }),
                (error) =>
                  error instanceof RasterError && error.code === "unsupported" && /photometric/.test(error.message),
                name,
              );
            } else {
              // What is stored without loss is the source, but WebP leaves out colours of transparent pixels; decoders of JPEG may
              // differ a little.
              const expected = isLossy || compression === "WEBP" ? readWithGdal(path, folder) : source.values;
              await compare(path, expected, isLossy ? 3 : 0, isMasked ? toMask(source) : undefined, name);
            }
          }
        }
      }
    },
  );
}

test("overviews have their own masks, in strips and in tiles", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const source = makeSource(folder);
  const path = join(folder, "x.tif");
  for (const layout of ["strips of 16", "tiles", "planes in tiles"]) {
    runGdal("gdal_translate", [
      "-q",
      "-b",
      "1",
      "-b",
      "2",
      "-b",
      "3",
      "-mask",
      "6",
      "--config",
      "GDAL_TIFF_INTERNAL_MASK",
      "YES",
      ...["COMPRESS=DEFLATE", ...LAYOUTS[layout]!].flatMap((option) => ["-co", option]),
      source.path,
      path,
    ]);
    runGdal("gdaladdo", ["-q", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES", path, "2", "4"]);
    const raster = await openRaster({ kind: "file", path });
    assert.equal(raster.info.levels.length, 3, layout);
    for (const [level, { width, height }] of raster.info.levels.entries()) {
      const read = join(folder, "level.tif");
      runGdal("gdal_translate", [
        "-q",
        ...(level === 0 ? [] : ["-oo", `OVERVIEW_LEVEL=${level - 1}`]),
        "-b",
        "mask",
        path,
        read,
      ]);
      const expected = readWithGdal(read, folder);
      const { mask } = await readWindow(raster, new BlockCache(0), {
        level,
        x: 0,
        y: 0,
        width,
        height,
        bands: [0, 1, 2],
      });
      assert.equal(countDifferences(mask!, expected, 0), 0, `${layout}, level ${level}`);
    }
    await raster.close();
  }
});

const toMask = ({ values }: Source) =>
  values.subarray(MASK_BAND * PIXELS, (MASK_BAND + 1) * PIXELS).map((value) => (value === 0 ? 0 : 255));

async function compare(
  path: string,
  expected: Float64Array,
  tolerance: number,
  expectedMask: Float64Array | undefined,
  name: string,
) {
  const raster = await openRaster({ kind: "file", path });
  const { width, height, bands } = raster.info;
  const { planes, mask } = await readWindow(raster, new BlockCache(0), {
    level: 0,
    x: 0,
    y: 0,
    width,
    height,
    bands: bands.map((_, band) => band),
  });
  await raster.close();
  for (const [band, plane] of planes.entries()) {
    const own = expected.subarray(band * PIXELS, (band + 1) * PIXELS);
    assert.equal(countDifferences(plane, own, tolerance), 0, `${name}, band ${band + 1}`);
  }
  assert.equal(raster.info.hasMask, expectedMask !== undefined, name);
  if (expectedMask !== undefined) {
    assert.equal(countDifferences(mask!, expectedMask, 0), 0, `${name}, mask`);
  }
}

function countDifferences(own: ArrayLike<number>, expected: Float64Array, tolerance: number): number {
  assert.equal(own.length, expected.length);
  let different = 0;
  for (let at = 0; at < expected.length; at += 1) {
    different += Math.abs(own[at]! - expected[at]!) <= tolerance ? 0 : 1;
  }
  return different;
}
