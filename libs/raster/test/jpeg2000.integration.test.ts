import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { RasterEngine } from "../src/engine/engine.ts";
import { gdalSkipReason, makeFolder, readWithGdal, runGdal } from "./gdal.ts";

const [WIDTH, HEIGHT] = [150, 130];

/** Samples that differ between bands, pixels and bits, over the whole range of their type. */
function writeRaw(folder: string, bands: number, type: "Byte" | "UInt16" | "Int16"): string {
  const bytes = type === "Byte" ? 1 : 2;
  const raw = Buffer.alloc(WIDTH * HEIGHT * bands * bytes);
  for (let at = 0; at < WIDTH * HEIGHT * bands; at += 1) {
    const band = Math.floor(at / (WIDTH * HEIGHT));
    const pixel = at % (WIDTH * HEIGHT);
    const value = (pixel * (band + 3) * 37 + band * 1000 + (pixel >> 3)) & (bytes === 1 ? 0xff : 0xffff);
    if (bytes === 1) {
      raw[at] = value;
    } else {
      raw.writeUInt16LE(value, at * 2);
    }
  }
  const path = join(folder, "source.img");
  writeFileSync(path, raw);
  writeFileSync(
    path.replace(".img", ".hdr"),
    `ENVI\nsamples = ${WIDTH}\nlines = ${HEIGHT}\nbands = ${bands}\nheader offset = 0\nfile type = ENVI Standard\n` +
      `data type = ${{ Byte: 1, UInt16: 12, Int16: 2 }[type]}\ninterleave = bsq\nbyte order = 0\n` +
      "map info = {UTM, 1, 1, 500000, 5000000, 10, 10, 33, North, WGS-84}\n",
  );
  return path;
}

async function readAll(t: TestContext, path: string, bands: number, shrink = 1) {
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const scenes = [{ assets: { data: { location: { kind: "file" as const, path } } } }];
  const expressions = Array.from({ length: bands }, (_, band) => `b${band + 1}`);
  const size = { width: Math.ceil(WIDTH / shrink), height: Math.ceil(HEIGHT / shrink) };
  return engine.pixels({ scenes, grid: size, expressions });
}

for (const [type, counts] of [
  ["Byte", [2, 3, 4]],
  ["UInt16", [1, 2, 3, 4, 5, 8]],
  ["Int16", [1, 4]],
] as const) {
  for (const bands of counts) {
    test(
      `lossless JPEG 2000 of ${bands} × ${type} is bit for bit as GDAL reads it`,
      { skip: gdalSkipReason() },
      async (t) => {
        const folder = makeFolder(t);
        const source = writeRaw(folder, bands, type);
        // Whole, and in tiles of which those at the edge are smaller; with the colour transform where it is possible.
        for (const [name, options] of [
          ["whole", ["-co", "YCC=NO"]],
          ["tiles", ["-co", "BLOCKXSIZE=64", "-co", "BLOCKYSIZE=64", "-co", "YCC=NO"]],
          ["colours", ["-co", "YCC=YES"]],
        ] as const) {
          const path = join(folder, `${name}.jp2`);
          const lossless = ["-co", "QUALITY=100", "-co", "REVERSIBLE=YES"];
          runGdal("gdal_translate", ["-q", "-of", "JP2OpenJPEG", ...lossless, ...options, source, path]);
          const expected = readWithGdal(path, folder);
          const { planes } = await readAll(t, path, bands);
          for (const [band, { samples }] of planes.entries()) {
            const own = expected.subarray(band * WIDTH * HEIGHT, (band + 1) * WIDTH * HEIGHT);
            assert.ok(
              own.every((value, at) => value === samples[at]),
              `${name}, band ${band + 1}: ${samples.slice(0, 5).join()} for ${own.slice(0, 5).join()}`,
            );
          }
        }
      },
    );
  }
}

test(
  "JPEG 2000 of 4 bands at a lower resolution is as its own bands are alone",
  { skip: gdalSkipReason() },
  async (t) => {
    const folder = makeFolder(t);
    const source = writeRaw(folder, 4, "UInt16");
    const encode = (name: string, options: readonly string[]) => {
      const path = join(folder, name);
      const lossless = ["-co", "QUALITY=100", "-co", "REVERSIBLE=YES", "-co", "YCC=NO", "-co", "RESOLUTIONS=3"];
      runGdal("gdal_translate", ["-q", "-of", "JP2OpenJPEG", ...lossless, ...options, source, path]);
      return path;
    };
    const { planes } = await readAll(t, encode("all.jp2", []), 4, 2);
    for (const [band, { samples }] of planes.entries()) {
      const alone = await readAll(t, encode(`${band}.jp2`, ["-b", String(band + 1)]), 1, 2);
      assert.deepEqual(samples, alone.planes[0]!.samples, `band ${band + 1}`);
    }
  },
);
