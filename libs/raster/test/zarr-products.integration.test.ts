import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { openRaster } from "../src/readers/open-raster.ts";
import type { Raster } from "../src/readers/raster.ts";
import { serveFolder } from "./cube-files.ts";
import { makeFolder } from "./gdal.ts";
import { readBand } from "./read-band.ts";
import { SIZE, type SpatialWay, ZarrWriter, makeEopfProduct, makeGeoZarr, valueOf } from "./zarr-files.ts";

const TRANSFORM_OF_10_M = [10, 0, 500_000, 0, -10, 5_000_000];

/** Opens data of the folder by HTTP. */
async function serve(t: TestContext, make: (folder: string) => void) {
  const folder = makeFolder(t);
  make(folder);
  const { url, requests } = await serveFolder(t, folder);
  return {
    requests,
    open: async (path: string) => {
      const raster = await openRaster({ kind: "http", url: `${url}/${path}`, allowPrivate: true });
      t.after(() => raster.close());
      return raster;
    },
  };
}

/** What a band is of a resolution, each pixel repeated on a grid of fewer metres. */
function expectBand(band: number, metres: number, gridMetres = metres): number[] {
  const side = (SIZE * 10) / gridMetres;
  const factor = metres / gridMetres;
  return Array.from({ length: side * side }, (_, at) =>
    valueOf(band, metres, Math.floor((at % side) / factor), Math.floor(Math.floor(at / side) / factor)),
  ).map((value) => value % 65_536);
}

const namesOf = (raster: Raster) => raster.info.bands.map(({ name }) => name);

test("a product of EOPF by its root: measurements of all resolutions on the finest grid", async (t) => {
  const { open, requests } = await serve(t, (folder) => makeEopfProduct(join(folder, "S2.zarr")));
  const raster = await open("S2.zarr");
  const group = "measurements/reflectance";
  assert.deepEqual(
    namesOf(raster),
    ["r10m/b02", "r10m/b03", "r20m/b05", "r60m/b01"].map((name) => `${group}/${name}`),
  );
  assert.deepEqual(raster.info.transform, TRANSFORM_OF_10_M);
  assert.equal(raster.info.crs?.id, "EPSG:32633");
  assert.deepEqual(
    requests.map(({ path }) => path),
    ["/S2.zarr/.zmetadata", `/S2.zarr/${group}/r10m/x/0`, `/S2.zarr/${group}/r10m/y/0`],
  );
  const [first] = raster.info.bands;
  assert.deepEqual([first?.nodata, first?.scale, first?.offset], [0, 0.0001, -0.1]);
  for (const [at, [band, metres]] of [
    [0, 10],
    [1, 10],
    [2, 20],
    [3, 60],
  ].entries()) {
    const samples = await readBand(raster, at);
    const expected = expectBand(band!, metres!, 10);
    const factor = metres! / 10;
    // The first pixel of each resolution is what stands for nothing.
    for (let y = 0; y < factor; y += 1) {
      expected.fill(0, y * SIZE, y * SIZE + factor);
    }
    assert.deepEqual([...samples], expected, raster.info.bands[at]?.name);
  }
});

test("groups and arrays of a product whose metadata is consolidated at the root alone", async (t) => {
  const { open } = await serve(t, (folder) => makeEopfProduct(join(folder, "S2.zarr")));
  const group = await open("S2.zarr/measurements/reflectance/r20m");
  assert.deepEqual(namesOf(group), ["b02", "b05"]);
  assert.deepEqual(group.info.transform, [20, 0, 500_000, 0, -20, 5_000_000]);
  assert.equal(group.info.crs?.id, "EPSG:32633");
  assert.deepEqual([...(await readBand(group, 1))].slice(1), expectBand(2, 20).slice(1));

  const array = await open("S2.zarr/measurements/reflectance/r60m/b01");
  assert.deepEqual(namesOf(array), ["b01"]);
  assert.deepEqual(array.info.transform, [60, 0, 500_000, 0, -60, 5_000_000]);
  assert.deepEqual([...(await readBand(array, 0))].slice(1), expectBand(3, 60).slice(1));

  const above = await open("S2.zarr/measurements");
  assert.deepEqual(namesOf(above), [
    "reflectance/r10m/b02",
    "reflectance/r10m/b03",
    "reflectance/r20m/b05",
    "reflectance/r60m/b01",
  ]);

  // Coordinates in degrees are no metres, whatever the product says of itself.
  const weather = await open("S2.zarr/conditions/meteorology");
  assert.equal(weather.info.crs?.id, "EPSG:4326");
  assert.deepEqual([...(await readBand(weather, 0))], [1, 2, 3, 4, 5, 6, 7, 8, 9]);

  await assert.rejects(open("S2.zarr/measurements/nothing"), { code: "invalid-raster" });
});

test("coarser bands that lie elsewhere are refused, not shifted", async (t) => {
  const { open } = await serve(t, (folder) => makeEopfProduct(join(folder, "S2.zarr"), 30));
  const raster = await open("S2.zarr");
  assert.deepEqual([...(await readBand(raster, 2))].slice(-SIZE), expectBand(2, 20, 10).slice(-SIZE));
  await assert.rejects(readBand(raster, 3), /r60m\/b01" does not lie where the finer variables do/);
  const alone = await open("S2.zarr/measurements/reflectance/r60m");
  assert.deepEqual(alone.info.transform, [60, 0, 500_030, 0, -60, 5_000_000]);
});

for (const way of ["layout", "groups", "nodes", "bbox"] satisfies SpatialWay[]) {
  test(`a pyramid of the GeoZarr conventions, placed by: ${way}`, async (t) => {
    const { open, requests } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { way }));
    const raster = await open("geo.zarr");
    assert.deepEqual(raster.info.transform, TRANSFORM_OF_10_M);
    assert.equal(raster.info.crs?.id, "EPSG:32633");
    assert.deepEqual(
      raster.info.levels.map(({ width, height }) => [width, height]),
      [
        [120, 120],
        [60, 60],
        [30, 30],
      ],
    );
    assert.deepEqual(namesOf(raster), ["0/nir", "0/red"]);
    const before = requests.length;
    for (const [level, metres] of [10, 20, 40].entries()) {
      assert.deepEqual([...(await readBand(raster, 1, level))], expectBand(0, metres), `level ${level}`);
    }
    assert.ok(before <= 2 && requests.slice(before).every(({ path }) => /\/c\//.test(path)), JSON.stringify(requests));

    const level = await open("geo.zarr/1");
    assert.deepEqual(level.info.transform, [20, 0, 500_000, 0, -20, 5_000_000]);
    assert.equal(level.info.crs?.id, "EPSG:32633");
    assert.deepEqual([...(await readBand(level, 0))], expectBand(1, 20));
  });
}

test("an array is found where nothing is consolidated; a group says why it is not", async (t) => {
  const { open } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { consolidated: false }));
  const array = await open("geo.zarr/0/red");
  assert.deepEqual(array.info.transform, TRANSFORM_OF_10_M);
  assert.equal(array.info.crs?.id, "EPSG:32633");
  assert.deepEqual([...(await readBand(array, 0))], expectBand(0, 10));
  await assert.rejects(open("geo.zarr"), /no consolidated metadata.*give the address of an array/);
});

test("groups that are not consolidated are listed on a disk", async (t) => {
  const folder = makeFolder(t);
  makeGeoZarr(join(folder, "geo.zarr"), { consolidated: false });
  const raster = await openRaster({ kind: "file", path: join(folder, "geo.zarr") });
  assert.deepEqual(namesOf(raster), ["0/nir", "0/red"]);
  assert.equal(raster.info.levels.length, 3);
  assert.deepEqual([...(await readBand(raster, 1, 2))], expectBand(0, 40));
});

for (const [name, layout] of Object.entries({
  "paths that lead out": [{ asset: "../../0" }, { asset: "/etc" }, { asset: ".." }],
  "itself as its own level": [{ asset: "0" }, { asset: "0" }, { asset: "0" }],
  "a hundred thousand levels": Array.from({ length: 100_000 }, () => ({ asset: "1" })),
  "no list": { length: 1e9 },
  "levels that are no objects": [null, 1, "0", [], {}],
})) {
  test(`a layout with ${name} leaves the full image`, async (t) => {
    const { open } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { way: "groups", layout }));
    const raster = await open("geo.zarr");
    assert.deepEqual(raster.info.transform, TRANSFORM_OF_10_M);
    assert.equal(raster.info.levels.length, 1);
    assert.deepEqual([...(await readBand(raster, 1))], expectBand(0, 10));
  });
}

test("metadata of more values than any product has is refused before it is built", async (t) => {
  const layout = Array.from({ length: 1_000_000 }, () => ({ asset: "1" }));
  const { open } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { way: "groups", layout }));
  await assert.rejects(open("geo.zarr"), { code: "too-large" });
});

test("a level that says that it lies elsewhere is not taken for an overview", async (t) => {
  const { open } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { shiftOf40: 40 }));
  const raster = await open("geo.zarr");
  assert.deepEqual(
    raster.info.levels.map(({ width }) => width),
    [120, 60],
  );
});

test("a level whose coordinates lie elsewhere is refused, not shifted", async (t) => {
  for (const shiftOf40 of [0, 40]) {
    const way = "coordinates" as const;
    const { open } = await serve(t, (folder) => makeGeoZarr(join(folder, "geo.zarr"), { way, shiftOf40 }));
    const raster = await open("geo.zarr");
    assert.deepEqual(raster.info.transform, TRANSFORM_OF_10_M);
    const band = namesOf(raster).indexOf("0/red");
    assert.deepEqual([...(await readBand(raster, band, 1))], expectBand(0, 20));
    if (shiftOf40 === 0) {
      assert.deepEqual([...(await readBand(raster, band, 2))], expectBand(0, 40));
    } else {
      await assert.rejects(readBand(raster, band, 2), /does not lie where the finer variables do/);
    }
  }
});

test("a group that is called as folders of chunks are is one where nothing is consolidated", async (t) => {
  for (const version of [2, 3] as const) {
    const folder = makeFolder(t);
    const writer = new ZarrWriter(version);
    const attributes = { "spatial:transform": [10, 0, 0, 0, -10, 0], "proj:code": "EPSG:32633" };
    writer.group("");
    writer.group("c", attributes);
    writer.array("c/red", { shape: [2, 2], dimensions: ["y", "x"], values: [1, 2, 3, 4] });
    writer.write(join(folder, "c.zarr"), false);
    const raster = await openRaster({ kind: "file", path: join(folder, "c.zarr") });
    assert.deepEqual(namesOf(raster), ["c/red"], `version ${version}`);
    assert.deepEqual([...(await readBand(raster, 0))], [1, 2, 3, 4]);
  }
});

test("a cube of very small chunks is refused before they are asked for one by one", async (t) => {
  const side = 128;
  const { open, requests } = await serve(t, (folder) => {
    for (const chunk of [1, 4]) {
      const writer = new ZarrWriter(3);
      writer.group("", { "spatial:transform": [10, 0, 0, 0, -10, 0], "proj:code": "EPSG:32633" });
      const values = Uint16Array.from({ length: side * side }, (_, at) => at);
      writer.array("red", { shape: [side, side], chunks: [chunk, chunk], dimensions: ["y", "x"], values });
      writer.write(join(folder, `${chunk}.zarr`), true);
    }
  });
  const small = await open("4.zarr");
  assert.deepEqual([...(await readBand(small, 0))].slice(0, 3), [0, 1, 2]);
  const tiny = await open("1.zarr");
  const before = requests.length;
  await assert.rejects(readBand(tiny, 0), /"red" has chunks of 1 × 1 values, so that one part of it is 16384 requests/);
  assert.equal(requests.length, before);
});

test("an array whose name means something in a URL is left out, and is not read as another one", async (t) => {
  const { open } = await serve(t, (folder) => {
    const writer = new ZarrWriter(3);
    writer.group("", {
      "spatial:dimensions": ["y", "x"],
      "spatial:transform": [10, 0, 0, 0, -10, 0],
      "proj:code": "EPSG:32633",
    });
    for (const [at, name] of ["red", "red#x", "red?x", "50%", "a b", "é"].entries()) {
      writer.array(name, {
        shape: [2, 2],
        dimensions: ["y", "x"],
        values: [1, 2, 3, 4].map((value) => value + at * 10),
      });
    }
    writer.write(join(folder, "names.zarr"), true);
  });
  const raster = await open("names.zarr");
  assert.deepEqual(namesOf(raster), ["a b", "red", "é"]);
  assert.deepEqual([...(await readBand(raster, 0))], [41, 42, 43, 44]);
  assert.deepEqual([...(await readBand(raster, 1))], [1, 2, 3, 4]);
  assert.deepEqual([...(await readBand(raster, 2))], [51, 52, 53, 54]);
});
