import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const run = promisify(execFile);
const skip =
  existsSync("/usr/bin/ogrinfo") && existsSync("/usr/bin/gdal_create") ? false : "needs Debian's package gdal-bin";
const options = { timeout: 60_000, env: { ...process.env, GDAL_HTTP_PROXY: "" } };
const { url, request, close } = await startCatalogue();
const folder = mkdtempSync(join(tmpdir(), "gdal-"));
after(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

await request("POST", "/stac/collections", { body: makeCollection("tiles") });

test("GDAL's OAPIF driver reads a collection, and accepts the API document", { skip }, async () => {
  for (let index = 0; index < 15; index += 1) {
    const item = makeItem(`plain-${index}`, {
      properties: { datetime: "2023-01-01T00:00:00Z", platform: index < 4 ? "one" : "two" },
    });
    assert.equal((await request("POST", "/stac/collections/tiles/items", { body: item })).status, 201);
  }
  for (const source of [`OAPIF:${url}/collections/tiles`, `OAPIF:${url}/stac/collections/tiles`]) {
    const { stdout, stderr } = await run("/usr/bin/ogrinfo", ["-ro", "-al", "-so", source], options);
    assert.doesNotMatch(stderr, /ERROR/);
    assert.match(stdout, /Feature Count: 15/);
    const filtered = await run(
      "/usr/bin/ogrinfo",
      ["-ro", "-al", "-so", source, "-where", "platform = 'one'", "-spat", "9", "44", "10.5", "45.5"],
      options,
    );
    assert.match(filtered.stdout, /Feature Count: 4/);
  }
});

test("GDAL's STACIT driver makes a mosaic of what a search finds", { skip }, async () => {
  for (const [index, west] of [500_000, 500_640].entries()) {
    const file = join(folder, `${index}.tif`);
    const [north, size] = [5_700_640, 640];
    const corners = [west, north, west + size, north - size].map(String);
    const arguments_ = ["-q", "-outsize", "64", "64", "-bands", "1", "-burn", String(10 * (index + 1))];
    await run("/usr/bin/gdal_create", [...arguments_, "-a_srs", "EPSG:32631", "-a_ullr", ...corners, file], options);
    const item = makeItem(`raster-${index}`, {
      stac_extensions: ["https://stac-extensions.github.io/projection/v1.1.0/schema.json"],
      properties: { datetime: "2024-06-01T00:00:00Z", "proj:epsg": 32631 },
      assets: {
        B1: {
          href: file,
          type: "image/tiff; application=geotiff",
          "proj:shape": [64, 64],
          "proj:transform": [10, 0, west, 0, -10, north],
        },
      },
    });
    assert.equal((await request("POST", "/stac/collections/tiles/items", { body: item })).status, 201);
  }
  const search = `STACIT:"${url}/stac/search?collections=tiles&datetime=2024-01-01T00:00:00Z/..":asset=B1`;
  const { stdout } = await run("/usr/bin/gdalinfo", ["-stats", search], options);
  assert.match(stdout, /Size is 128, 64/);
  assert.match(stdout, /Minimum=10\.000, Maximum=20\.000, Mean=15\.000/);
});
