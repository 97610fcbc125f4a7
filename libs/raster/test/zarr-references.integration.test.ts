import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { openRaster } from "../src/readers/open-raster.ts";
import { serveFolder } from "./cube-files.ts";
import { makeFolder } from "./gdal.ts";
import { readBand } from "./read-band.ts";

const SAMPLES = Uint16Array.from({ length: 24 }, (_, at) => 1000 + at);
/** Bytes of another format before the chunks. */
const BEFORE = 100;
const ARRAY = { zarr_format: 2, chunks: [4, 3], compressor: null, filters: null, order: "C", fill_value: null };
const axis = (name: string, values: readonly number[]) => ({
  [`${name}/.zarray`]: JSON.stringify({ ...ARRAY, shape: [values.length], chunks: [values.length], dtype: "<f8" }),
  [`${name}/.zattrs`]: JSON.stringify({ _ARRAY_DIMENSIONS: [name] }),
  [`${name}/0`]: `base64:${Buffer.from(new Float64Array(values).buffer).toString("base64")}`,
});
const METADATA = {
  ".zgroup": '{"zarr_format":2}',
  ".zattrs": { "proj:code": "EPSG:32633" },
  ...axis("x", [5, 15, 25, 35, 45, 55]),
  ...axis("y", [35, 25, 15, 5]),
  "red/.zarray": JSON.stringify({ ...ARRAY, shape: [4, 6], dtype: "<u2" }),
  "red/.zattrs": JSON.stringify({ _ARRAY_DIMENSIONS: ["y", "x"] }),
};
const chunks = (address: string) => ({ "red/0.0": [address, BEFORE, 24], "red/0.1": [address, BEFORE + 24, 24] });
const EXPECTED = [0, 1, 2, 3].flatMap((row) => [
  ...SAMPLES.subarray(row * 3, row * 3 + 3),
  ...SAMPLES.subarray(12 + row * 3, 12 + row * 3 + 3),
]);

/** Serves references beside the file that they lead to, and opens them. */
async function open(t: TestContext, references: unknown) {
  const folder = makeFolder(t);
  mkdirSync(join(folder, "a/data"), { recursive: true });
  writeFileSync(join(folder, "a/data/x 1.nc"), Buffer.concat([Buffer.alloc(BEFORE), Buffer.from(SAMPLES.buffer)]));
  writeFileSync(join(folder, "secret.nc"), Buffer.concat([Buffer.alloc(BEFORE), Buffer.from(SAMPLES.buffer)]));
  writeFileSync(join(folder, "a/x.json"), typeof references === "string" ? references : JSON.stringify(references));
  const { url, requests } = await serveFolder(t, folder);
  const raster = await openRaster({ kind: "http", url: `${url}/a/x.json`, allowPrivate: true });
  t.after(() => raster.close());
  return { raster, requests, origin: url };
}

for (const [name, references] of Object.entries({
  "version 0": { ...METADATA, ...chunks("data/x 1.nc") },
  "version 1 with templates": {
    version: 1,
    templates: { u: "data" },
    refs: { ...METADATA, ...chunks("{{u}}/x 1.nc") },
  },
})) {
  test(`references to parts of a file are Zarr data: ${name}`, async (t) => {
    const { raster, requests } = await open(t, references);
    assert.deepEqual(raster.info.transform, [10, 0, 0, 0, -10, 40]);
    assert.equal(raster.info.crs?.id, "EPSG:32633");
    assert.deepEqual([...(await readBand(raster, 0))], EXPECTED);
    // Nothing but the references is read before a pixel is.
    assert.deepEqual([...new Set(requests.map(({ path }) => path))], ["/a/x.json", "/a/data/x%201.nc"]);
  });
}

for (const address of [
  "../secret.nc",
  "/secret.nc",
  "file:///etc/passwd",
  "http://127.0.0.1:1/secret.nc",
  "s3://bucket/secret.nc",
  "data/../../secret.nc",
  "{{u}}/x.nc",
]) {
  test(`references that may not lead to ${address} are refused`, async (t) => {
    const { raster, requests } = await open(t, { ...METADATA, ...chunks(address) });
    await assert.rejects(readBand(raster, 0), (error: { code?: string }) =>
      ["forbidden", "unsupported"].includes(error.code ?? ""),
    );
    assert.deepEqual([...new Set(requests.map(({ path }) => path))], ["/a/x.json"]);
  });
}

for (const [name, references] of Object.entries({
  "no references": { type: "Feature" },
  "half a document": '{"version":1,"refs":{"a":',
  "generated ones": { version: 1, gen: [{ key: "a", url: "b" }], refs: METADATA },
  "more references than are read": Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`a${at}`, ""])),
  "lengths that lie": { ...METADATA, "red/0.0": ["data/x 1.nc", 0, 1e15] },
  "metadata in another file": { ".zgroup": METADATA[".zgroup"], "red/.zarray": ["data/x 1.nc", 0, 10] },
})) {
  test(`JSON with ${name} is refused or has no pixels`, async (t) => {
    try {
      const { raster } = await open(t, references);
      // A chunk that nothing leads to was never written.
      const samples = await readBand(raster, 0);
      assert.ok([...samples].every((value) => value === 0));
    } catch (error) {
      assert.match(String((error as { code?: string }).code), /^(unsupported|invalid-raster|too-large)$/);
    }
  });
}
