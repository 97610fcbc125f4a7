import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import sharp from "sharp";

import { RasterEngine } from "../src/engine/engine.ts";
import type { Scene } from "../src/engine/scene.ts";
import { SCENES, gdalSkipReason, makeFolder, readWithGdal, runGdal } from "./gdal.ts";

const SIZE = 700;
const PIXELS = SIZE * SIZE;

/** A file of bytes and a georeference from bands of values. */
function writeBands(folder: string, name: string, bands: readonly Uint8Array[], options: readonly string[]): string {
  const [raw, path] = [join(folder, `${name}.raw`), join(folder, `${name}.tif`)];
  writeFileSync(raw, Buffer.concat(bands));
  writeFileSync(
    join(folder, `${name}.hdr`),
    `ENVI\nsamples = ${SIZE}\nlines = ${SIZE}\nbands = ${bands.length}\nheader offset = 0\ndata type = 1\ninterleave = bsq\nbyte order = 0\n`,
  );
  const place = ["-a_srs", "EPSG:32633", "-a_ullr", "500000", "5107000", "507000", "5100000"];
  runGdal("gdal_translate", ["-q", ...place, ...options, raw, path]);
  return path;
}

/** Values from 0 to 3: many are those that nodata has. */
const darkBand = (step: number) => Uint8Array.from({ length: PIXELS }, (_, at) => (at * step + (at >> 7)) % 4);

const sceneOf = (paths: Readonly<Record<string, string>>): Scene => ({
  assets: Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, { location: { kind: "file" as const, path } }]),
  ),
});

/** Band by band what GDAL reads, NaN where GDAL's mask of the band has nothing. */
function readMasked(path: string, folder: string, count: number): readonly Float64Array[] {
  const bands = Array.from({ length: count }, (_, band) => band + 1);
  const both = join(folder, "both.vrt");
  runGdal("gdal_translate", [
    "-q",
    "-of",
    "VRT",
    "-a_nodata",
    "none",
    ...bands.flatMap((band) => ["-b", String(band)]),
    ...bands.flatMap((band) => ["-b", `mask,${band}`]),
    path,
    both,
  ]);
  const read = readWithGdal(both, folder);
  return bands.map((band) =>
    read
      .subarray((band - 1) * PIXELS, band * PIXELS)
      .map((value, at) => (read[(count + band - 1) * PIXELS + at] === 0 ? Number.NaN : value)),
  );
}

/** As bytes: far faster than value by value, and NaN is the same as NaN. */
function assertSame(own: readonly Float64Array[], expected: readonly Float64Array[], name: string): void {
  assert.equal(own.length, expected.length, name);
  for (const [band, values] of own.entries()) {
    const other = expected[band]!;
    const bytes = ({ buffer, byteOffset, byteLength }: Float64Array) => Buffer.from(buffer, byteOffset, byteLength);
    assert.ok(
      bytes(values).equals(bytes(other)),
      `${name}, band ${band + 1}: pixel ${values.findIndex((value, at) => !Object.is(value, other[at]))}`,
    );
  }
}

/** As a coverage; a picture of the format is the same. */
async function writeCog(engine: RasterEngine, scene: Scene, path: string, expressions?: readonly string[]) {
  const parts: Uint8Array[] = [];
  for await (const part of engine.coverage({
    scenes: [scene],
    grid: {},
    maxPixels: 1e7,
    ...(expressions && { expressions }),
  })) {
    parts.push(part);
  }
  writeFileSync(path, Buffer.concat(parts));
  const { bytes } = await engine.image({
    scenes: [scene],
    grid: {},
    format: "tif",
    ...(expressions && { expressions }),
  });
  assert.ok(Buffer.concat(parts).equals(bytes), "file and picture differ");
}

test(
  "written files have the pixels and the masks of what they are made from",
  { skip: gdalSkipReason() },
  async (t) => {
    const folder = makeFolder(t);
    const engine = new RasterEngine({ cacheBytes: 1e7 });
    t.after(() => engine.close());
    const colors = [darkBand(1), darkBand(3), darkBand(5)];
    const alpha = Uint8Array.from({ length: PIXELS }, (_, at) => (at % SIZE < 300 ? 0 : at % SIZE < 500 ? 120 : 255));
    const rgb = ["-co", "PHOTOMETRIC=RGB"];
    const masked = ["-mask", "4", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES", "-b", "1", "-b", "2", "-b", "3"];
    const files: Readonly<Record<string, string>> = {
      "colours without nodata": writeBands(folder, "a", colors, rgb),
      "colours with nodata": writeBands(folder, "b", colors, [...rgb, "-a_nodata", "0"]),
      "colours with a mask": writeBands(folder, "c", [...colors, alpha], [...rgb, ...masked]),
      "nodata that no byte is": writeBands(folder, "d", colors, ["-a_nodata", "-9999"]),
      "one band with a mask": writeBands(folder, "e", [...colors, alpha], masked.slice(0, 7)),
    };
    for (const [name, path] of Object.entries(files)) {
      const written = join(folder, "written.tif");
      await writeCog(engine, sceneOf({ data: path }), written);
      const count = name.startsWith("one") ? 1 : 3;
      const expected = readMasked(path, folder, count);
      assertSame(readMasked(written, folder, count), expected, name);
      // Overviews have masks of their own.
      const overview = join(folder, "overview.tif");
      runGdal("gdal_translate", ["-q", "-oo", "OVERVIEW_LEVEL=0", "-b", "mask", written, overview]);
      const whole = join(folder, "whole.tif");
      runGdal("gdal_translate", ["-q", "-b", "mask", written, whole]);
      const [small, large] = [readWithGdal(overview, folder), readWithGdal(whole, folder)];
      const half = SIZE / 2;
      const taken = small.map((_, at) => large[Math.floor(at / half) * 2 * SIZE + (at % half) * 2]!);
      assertSame([small], [taken], `${name}, overview`);
    }
  },
);

test("bands of files with several nodata keep each pixel that they have", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const paths = {
    zero: writeBands(folder, "zero", [darkBand(1)], ["-a_nodata", "0"]),
    three: writeBands(folder, "three", [darkBand(3)], ["-a_nodata", "3"]),
    all: writeBands(folder, "all", [darkBand(5)], []),
  };
  const written = join(folder, "written.tif");
  await writeCog(engine, sceneOf(paths), written, Object.keys(paths));
  const expected = Object.values(paths).flatMap((path) => readMasked(path, folder, 1));
  assertSame(readMasked(written, folder, 3), expected, "three files");
});

test(
  "a picture is transparent where no band has a pixel, as GDAL's mask of the file",
  { skip: gdalSkipReason() },
  async (t) => {
    const folder = makeFolder(t);
    const engine = new RasterEngine({ cacheBytes: 1e7 });
    t.after(() => engine.close());
    const colors = [darkBand(1), darkBand(3), darkBand(5)];
    const dark = writeBands(folder, "dark", colors, ["-co", "PHOTOMETRIC=RGB", "-a_nodata", "0"]);
    const { bytes } = await engine.image({ scenes: [sceneOf({ data: dark })], grid: {}, format: "png" });
    const pixels = await sharp(bytes).raw().toBuffer();
    assert.equal(pixels.length, PIXELS * 4);
    const wrong = colors[0]!.findIndex(
      (_, at) => (pixels[at * 4 + 3] === 0) !== colors.every((band) => band[at] === 0),
    );
    assert.equal(wrong, -1);
  },
);

test(
  "alpha is the transparency of a picture once, however its bands are chosen",
  { skip: gdalSkipReason() },
  async (t) => {
    const folder = makeFolder(t);
    const engine = new RasterEngine({ cacheBytes: 1e7 });
    t.after(() => engine.close());
    const alpha = Uint8Array.from({ length: PIXELS }, (_, at) => (at % SIZE < 100 ? at % 2 : at % 256));
    const bands = [darkBand(1), darkBand(3), darkBand(5), alpha];
    const path = writeBands(folder, "rgba", bands, ["-co", "PHOTOMETRIC=RGB", "-co", "ALPHA=YES"]);
    for (const expressions of [undefined, ["b1", "b2", "b3"], ["b1", "b2", "b3", "b4"]]) {
      const scenes = [sceneOf({ data: path })];
      const { bytes } = await engine.image({ scenes, grid: {}, format: "png", ...(expressions && { expressions }) });
      const pixels = await sharp(bytes).raw().toBuffer();
      const wrong = alpha.findIndex((value, at) => pixels[at * 4 + 3] !== value);
      assert.equal(wrong, -1, expressions?.join());
    }
  },
);

test("scenes of several types keep their values in a mosaic", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const bytes = join(folder, "bytes.tif");
  const shorts = join(SCENES, "maribor-0820/B04.tif");
  // Nothing but nodata: each pixel is of the scene below.
  runGdal("gdal_translate", ["-q", "-ot", "Byte", "-scale", "0", "65535", "0", "0", "-a_nodata", "0", shorts, bytes]);
  const grid = {};
  const read = async (paths: readonly string[], selection: "first" | "max") =>
    (await engine.pixels({ scenes: paths.map((data) => sceneOf({ data })), grid, expressions: ["b1"], selection }))
      .planes[0];
  for (const selection of ["first", "max"] as const) {
    const [alone, below] = [await read([shorts], selection), await read([bytes, shorts], selection)];
    assert.deepEqual([below?.type, below?.samples, below?.mask], [alone?.type, alone?.samples, alone?.mask], selection);
  }
});
