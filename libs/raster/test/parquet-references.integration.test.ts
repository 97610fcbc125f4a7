import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";

import { openRaster } from "../src/readers/open-raster.ts";
import { serveFolder } from "./cube-files.ts";
import { makeFolder } from "./gdal.ts";
import { readBand } from "./read-band.ts";

/** Files that kerchunk 0.2.10 wrote with two references each, packed with Zstandard: of `red` three chunks of four are there. */
const FILES = JSON.parse(readFileSync(join(import.meta.dirname, "parquet-references.json"), "utf8")) as Record<
  string,
  string
>;
const array = (shape: readonly number[], chunks: readonly number[], dtype: string) => ({
  zarr_format: 2,
  compressor: null,
  filters: null,
  order: "C",
  fill_value: null,
  shape,
  chunks,
  dtype,
});
const METADATA = {
  ".zgroup": { zarr_format: 2 },
  ".zattrs": { "proj:code": "EPSG:32633" },
  "x/.zarray": array([6], [6], "<f8"),
  "x/.zattrs": { _ARRAY_DIMENSIONS: ["x"] },
  "y/.zarray": array([4], [4], "<f8"),
  "y/.zattrs": { _ARRAY_DIMENSIONS: ["y"] },
  "red/.zarray": array([4, 6], [2, 3], "<u2"),
  "red/.zattrs": { _ARRAY_DIMENSIONS: ["y", "x"] },
};
const SAMPLES = Uint16Array.from({ length: 18 }, (_, at) => 1000 + at);

/** References in a folder, beside the file that they lead to. */
async function open(t: TestContext, { size = 2, change }: { size?: number; change?: (folder: string) => void } = {}) {
  const folder = makeFolder(t);
  mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(folder, "data/x 1.nc"), Buffer.concat([Buffer.alloc(100), Buffer.from(SAMPLES.buffer)]));
  const references = join(folder, "r.parq");
  for (const [path, packed] of Object.entries(FILES)) {
    mkdirSync(dirname(join(references, path)), { recursive: true });
    writeFileSync(join(references, path), zstdDecompressSync(Buffer.from(packed, "base64")));
  }
  writeFileSync(join(references, ".zmetadata"), JSON.stringify({ metadata: METADATA, record_size: size }));
  change?.(references);
  const { url, requests } = await serveFolder(t, folder);
  const raster = await openRaster({ kind: "http", url: `${url}/r.parq`, allowPrivate: true });
  t.after(() => raster.close());
  return { raster, requests };
}

test("references in Parquet are Zarr data", async (t) => {
  const { raster, requests } = await open(t);
  assert.deepEqual(raster.info.transform, [10, 0, 0, 0, -10, 40]);
  assert.equal(raster.info.crs?.id, "EPSG:32633");
  const row = (...starts: readonly number[]) =>
    starts.flatMap((start) => (start < 0 ? [0, 0, 0] : [...SAMPLES.subarray(start, start + 3)]));
  assert.deepEqual([...(await readBand(raster, 0))], [...row(0, 6), ...row(3, 9), ...row(12, -1), ...row(15, -1)]);
  const files = requests.map(({ path }) => path).filter((path) => path.startsWith("/r.parq/"));
  assert.deepEqual(
    files.toSorted(),
    [".zmetadata", "red/refs.0.parq", "red/refs.1.parq", "x/refs.0.parq", "y/refs.0.parq"].map(
      (name) => `/r.parq/${name}`,
    ),
  );
});

test("chunks without a file of references are empty", async (t) => {
  const { raster } = await open(t, { change: (folder) => rmSync(join(folder, "red/refs.1.parq")) });
  assert.deepEqual(
    [...(await readBand(raster, 0))].slice(12),
    Array.from({ length: 12 }, () => 0),
  );
});

for (const [name, options, error] of [
  ["no size of its files", { size: 0 }, { code: "unsupported" }],
  ["more rows than it says", { size: 1 }, /it has 2 rows instead of 1/],
  [
    "bytes that are no Parquet",
    { change: (folder: string) => writeFileSync(join(folder, "x/refs.0.parq"), "PAR1 and not more") },
    { code: "invalid-raster" },
  ],
  [
    "a file that ends too soon",
    {
      change: (folder: string) => {
        const path = join(folder, "x/refs.0.parq");
        writeFileSync(path, readFileSync(path).subarray(0, 600));
      },
    },
    { code: "invalid-raster" },
  ],
] as const) {
  test(`references in Parquet with ${name} are refused`, async (t) => {
    await assert.rejects(open(t, options), error);
  });
}

test("references in Parquet whose counts are damaged are refused, and others go on", async (t) => {
  const damage = (folder: string) => {
    const path = join(folder, "x/refs.0.parq");
    const bytes = readFileSync(path);
    // Every small number that could be a count becomes the largest one of its length.
    for (let at = 4; at < bytes.length - 8; at += 1) {
      if (bytes[at] === 0x04) {
        bytes[at] = 0x7e;
      }
    }
    writeFileSync(path, bytes);
  };
  await assert.rejects(open(t, { change: damage }), { code: "invalid-raster" });
  await open(t);
});
