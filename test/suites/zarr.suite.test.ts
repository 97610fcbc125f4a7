// Zarr data that zarr-python and xarray write, in many forms, against what xarray reads of it: every sample, by HTTP.
// ZARR_PYTHON=<python> names one that has them, kerchunk, fastparquet and h5netcdf already.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openRaster } from "../../libs/raster/src/readers/open-raster.ts";
import { serveFolder } from "../../libs/raster/test/cube-files.ts";
import { readBand } from "../../libs/raster/test/read-band.ts";

interface Product {
  readonly address: string;
  readonly transform: readonly number[];
  readonly variables: readonly {
    readonly name: string;
    readonly number: number;
    readonly width: number;
    readonly height: number;
    readonly file: string;
  }[];
}

const PACKAGES = ["zarr>=3", "xarray", "numcodecs", "kerchunk", "fastparquet", "h5netcdf"];
const folder = mkdtempSync(join(tmpdir(), "swath-zarr-"));
after(() => rmSync(folder, { recursive: true }));
const python = process.env["ZARR_PYTHON"] ?? installPackages();
const skip = python === undefined ? "needs python3 (3.11 or newer) with venv, and the registry PyPI" : false;

test("what xarray reads of Zarr data in every form is what is read here", { skip }, async (t) => {
  const made = spawnSync(python!, [join(import.meta.dirname, "zarr/make-products.py"), folder], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const products = JSON.parse(readFileSync(join(folder, "products.json"), "utf8")) as readonly Product[];
  assert.ok(products.length > 30, `${products.length} products`);
  const { url } = await serveFolder(t, folder);
  for (const { address, transform, variables } of products) {
    await t.test(address, async (each) => {
      const raster = await openRaster({ kind: "http", url: `${url}/${address}`, allowPrivate: true });
      each.after(() => raster.close());
      const { bands, crs } = raster.info;
      assert.deepEqual(raster.info.transform, transform);
      assert.equal(crs?.id, "EPSG:32633");
      assert.equal(bands.length, variables.length, bands.map(({ name }) => name).join(" "));
      for (const { name, number, file } of variables) {
        const band = bands.findIndex((found, at) => found.name === name && countBefore(bands, at) === number);
        const bytes = readFileSync(join(folder, file));
        const expected = new Float64Array(new Uint8Array(bytes).buffer);
        const samples = await readBand(raster, band);
        assert.equal(samples.length, expected.length);
        const wrong = samples.findIndex((value, at) => !Object.is(value, expected[at]));
        assert.equal(wrong, -1, `${name} ${number}: ${samples[wrong]} is not ${expected[wrong]} at ${wrong}`);
      }
    });
  }
});

/** Bands of the same name before one. */
function countBefore(bands: readonly { readonly name?: string }[], at: number): number {
  return bands.slice(0, at).filter(({ name }) => name === bands[at]?.name).length;
}

function installPackages(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), "swath-zarr-python-"));
  after(() => rmSync(place, { recursive: true }));
  const made = spawnSync("python3", ["-m", "venv", place]);
  const installed =
    made.status === 0 &&
    spawnSync(join(place, "bin/pip"), ["install", "-q", "--disable-pip-version-check", ...PACKAGES], {
      timeout: 300_000,
    }).status === 0;
  return installed ? join(place, "bin/python") : undefined;
}
