import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import type { StacItem } from "@swath/stac";

import { readRaster } from "../tools/raster.ts";
import { assetPath, folderOf, readScenes } from "../tools/scene.ts";

const run = promisify(execFile);
const examples = join(import.meta.dirname, "..");
const swath = join(examples, "../bin/swath");
const COG_CHECK = "/usr/lib/python3/dist-packages/osgeo_utils/samples/validate_cloud_optimized_geotiff.py";
const findGdalSkipReason = existsSync("/usr/bin/gdal_calc.py")
  ? undefined
  : "gdal_calc.py is not installed (Debian packages gdal-bin, python3-gdal)";
const needsGdal = { ...(findGdalSkipReason !== undefined && { skip: findGdalSkipReason }) };
/** Debian's Python, which has GDAL's modules, whatever else is first in the PATH. */
const python = "/usr/bin/python3";

const PACKAGES = ["ndvi", "water-bodies", "cloud-free-mosaic", "s-expression"];

let folder: string;
const results = new Map<string, string>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "examples-"));
  for (const name of PACKAGES) {
    const args = [
      "--no-container",
      "--quiet",
      "--outdir",
      join(folder, name),
      `${examples}/packages/${name}.cwl#${name}`,
    ];
    const { stdout } = await run(swath, ["cwl", "run", ...args, join(examples, `inputs/${name}.yml`)], {
      env: { PATH: `${examples}/bin:/usr/bin:/bin` },
    });
    const output = JSON.parse(stdout) as { results: { location: string } };
    results.set(name, new URL(output.results.location).pathname);
  }
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("a directory with several scenes, as a search brings it, has a result of each", async () => {
  const found = join(folder, "found");
  await mkdir(found);
  for (const name of ["canberra", "lommel"]) {
    await cp(join(examples, "scenes", name), join(found, name), { recursive: true });
  }
  const links = ["canberra", "lommel"].map((name) => ({ rel: "item", href: `./${name}/item.json` }));
  await writeFile(
    join(found, "catalog.json"),
    JSON.stringify({ type: "Catalog", stac_version: "1.0.0", id: "found", description: "", links }),
  );
  const made = join(folder, "found-ndvi");
  await mkdir(made);
  await run(join(examples, "bin/swath-examples"), ["ndvi", "--scene", found], { cwd: made });
  const several = await readScenes(made);
  assert.deepEqual(
    several.map(({ item }) => item.id).toSorted(),
    (await itemsOf("ndvi")).map(({ item }) => item.id).toSorted(),
  );
  const collected = join(folder, "found-collected");
  await mkdir(collected);
  await run(join(examples, "bin/swath-examples"), ["collect", "--scene", made], { cwd: collected });
  for (const scene of await readScenes(collected)) {
    assert.deepEqual((await readdir(folderOf(scene))).toSorted(), [
      `${scene.item.id}.json`,
      `${scene.item.id}.png`,
      `${scene.item.id}.tif`,
    ]);
  }
});

const itemsOf = (name: string) => readScenes(results.get(name) ?? "");

for (const name of PACKAGES) {
  test(`${name} is a proper application package`, async () => {
    const { stdout } = await run(
      swath,
      ["cwl", "validate", "--eo", "--json", `${examples}/packages/${name}.cwl#${name}`],
      {
        env: { PATH: "/usr/bin:/bin" },
      },
    );
    assert.deepEqual(JSON.parse(stdout), { valid: true, problems: [] });
  });

  test(`${name} writes Cloud-Optimised GeoTIFFs and thumbnails`, needsGdal, async () => {
    for (const scene of await itemsOf(name)) {
      for (const [key, { type = "" }] of Object.entries(scene.item.assets)) {
        const path = assetPath(scene, key);
        if (type === "image/png") {
          assert.equal((await readFile(path)).subarray(1, 4).toString(), "PNG");
        } else {
          assert.match((await run("gdalinfo", [path])).stdout, /LAYOUT=COG/);
          assert.match((await run(python, [COG_CHECK, path])).stdout, /is a valid cloud optimized GeoTIFF/);
        }
      }
    }
  });
}

test("an area of interest cuts its part out of the scene, pixel on pixel", async () => {
  const target = join(folder, "ndvi-aoi");
  const scene = join(examples, "scenes/lommel");
  const args = ["ndvi", "--scene", scene, "--red", "red", "--nir", "nir"];
  await run("mkdir", ["-p", target]);
  const options = { cwd: target, env: { PATH: "/usr/bin:/bin" } };
  await run(join(examples, "bin/swath-examples"), [...args, "--aoi", "5.25,51.21,5.28,51.24"], options);
  const [part] = await readScenes(target);
  const whole = (await itemsOf("ndvi")).find(({ item }) => item.id.includes("lommel"));
  assert.ok(part !== undefined && whole !== undefined);
  const [cropped, full] = [await readRaster(assetPath(part, "ndvi")), await readRaster(assetPath(whole, "ndvi"))];
  const column = (cropped.grid.west - full.grid.west) / full.grid.pixel;
  const row = (full.grid.north - cropped.grid.north) / full.grid.pixel;
  assert.ok(Number.isInteger(column) && Number.isInteger(row) && cropped.grid.width < full.grid.width);
  for (let line = 0; line < cropped.grid.height; line += 1) {
    for (let at = 0; at < cropped.grid.width; at += 1) {
      const expected = full.data[(row + line) * full.grid.width + column + at];
      assert.equal(cropped.data[line * cropped.grid.width + at], expected);
    }
  }
  const [west = 0, south = 0] = part.item.bbox ?? [];
  assert.ok(Math.abs(west - 5.25) < 0.005 && Math.abs(south - 51.21) < 0.005, JSON.stringify(part.item.bbox));
  await assert.rejects(
    run(join(examples, "bin/swath-examples"), [...args, "--aoi", "1,1,2,2"], options),
    /does not touch/,
  );
});

test("the vegetation index is GDAL's own, pixel by pixel", needsGdal, async () => {
  const calculation = "numpy.where((A+B)==0, -9999, (A.astype(float)-B)/(numpy.where((A+B)==0, 1, A.astype(float)+B)))";
  for (const scene of await itemsOf("ndvi")) {
    const [source, bands] = scene.item.id.includes("lommel") ? ["lommel", ["B08", "B04"]] : ["canberra", ["B4", "B3"]];
    const reference = join(folder, `${source}.tif`);
    const files = bands.map((band) => join(examples, "scenes", source, `${band}.tif`));
    const args = [
      "-A",
      files[0] ?? "",
      "-B",
      files[1] ?? "",
      `--calc=${calculation}`,
      "--type=Float32",
      "--NoDataValue=-9999",
    ];
    await run("/usr/bin/gdal_calc.py", [...args, `--outfile=${reference}`, "--quiet"], {
      env: { PATH: "/usr/bin:/bin" },
    });
    const [ours, theirs] = [await readRaster(assetPath(scene, "ndvi")), await readRaster(reference)];
    assert.deepEqual(ours.grid, theirs.grid);
    assert.deepEqual(ours.data, theirs.data, source);
  }
});

test("an expression gives the same as the tool made for it", async () => {
  const [ours] = await itemsOf("s-expression");
  const other = (await itemsOf("ndvi")).find(({ item }) => item.id.includes("lommel"));
  assert.ok(ours !== undefined && other !== undefined);
  assert.deepEqual((await readRaster(assetPath(ours, "ndvi"))).data, (await readRaster(assetPath(other, "ndvi"))).data);
});

test("water is found where it is known to be", async () => {
  const share = async (id: RegExp) => {
    const scene = (await itemsOf("water-bodies")).find(({ item }) => id.test(item.id));
    assert.ok(scene !== undefined);
    const { data } = await readRaster(assetPath(scene, "water"));
    const pixels = Array.from(data);
    const known = pixels.filter((value) => value !== 255).length;
    return (100 * pixels.filter((value) => value === 1).length) / known;
  };
  // Reference values of these scenes, computed apart from this code.
  assert.equal((await share(/^LS5/)).toFixed(2), "4.55");
  assert.equal((await share(/lommel/)).toFixed(2), "3.69");
});

test("each pixel of the mosaic is a clear pixel of one of the scenes, and none that is clear is missing", async () => {
  const [mosaic] = await itemsOf("cloud-free-mosaic");
  assert.ok(mosaic !== undefined);
  const ids = mosaic.item.properties["mosaic:scenes"] as readonly string[];
  assert.match(ids[0] ?? "", /20230820/, "the least cloudy scene comes first");
  const source = await readRaster(assetPath(mosaic, "source"));
  const layers = await Promise.all(
    ["maribor-0820", "maribor-0818"].map(async (name) => ({
      scl: await readRaster(join(examples, "scenes", name, "SCL.tif")),
      red: await readRaster(join(examples, "scenes", name, "B04.tif")),
      nir: await readRaster(join(examples, "scenes", name, "B08.tif")),
    })),
  );
  const [red, nir] = [await readRaster(assetPath(mosaic, "red")), await readRaster(assetPath(mosaic, "nir"))];
  const { grid } = source;
  let filled = 0;
  for (let index = 0; index < source.data.length; index += 1) {
    const [x, y] = [index % grid.width, Math.floor(index / grid.width)];
    const expected = layers.findIndex(({ scl, red: r, nir: n }) => {
      const at = pixelAt(scl.grid, grid, x, y);
      return at !== undefined && [4, 5, 6, 7, 11].includes(scl.data[at] ?? 0) && r.data[at] !== 0 && n.data[at] !== 0;
    });
    assert.equal(source.data[index], expected + 1, `pixel ${x},${y}`);
    const layer = layers[expected];
    const at = layer === undefined ? undefined : pixelAt(layer.scl.grid, grid, x, y);
    assert.equal(red.data[index], at === undefined ? 0 : layer?.red.data[at]);
    assert.equal(nir.data[index], at === undefined ? 0 : layer?.nir.data[at]);
    filled += expected === -1 ? 0 : 1;
  }
  assert.ok(filled > 0.6 * source.data.length && filled < source.data.length);
});

test(
  "a band of a file with several is named, pixels that are points lie half a pixel further, and nonsense is refused",
  needsGdal,
  async () => {
    const scene = join(folder, "several");
    await run("mkdir", ["-p", scene]);
    const [red, nir] = ["B04.tif", "B08.tif"].map((name) => join(examples, "scenes/lommel", name));
    const system = { env: { PATH: "/usr/bin:/bin" } };
    await run(
      "/usr/bin/gdal_merge.py",
      ["-separate", "-q", "-o", join(scene, "both.tif"), red ?? "", nir ?? ""],
      system,
    );
    const points = ["-mo", "AREA_OR_POINT=Point", join(scene, "both.tif"), join(scene, "points.tif")];
    await run("/usr/bin/gdal_translate", ["-q", ...points], system);
    const [area, point] = [await readRaster(join(scene, "both.tif")), await readRaster(join(scene, "points.tif"))];
    assert.deepEqual(point.grid, area.grid, "the same place, however it is written down");
    const [source] = await readScenes(join(examples, "scenes/lommel"));
    assert.ok(source !== undefined);
    const asset = { href: "./both.tif", type: "image/tiff", "eo:bands": [{ name: "r" }, { name: "n" }] };
    const item = { ...source.item, links: [], assets: { both: asset } };
    await writeFile(join(scene, "item.json"), JSON.stringify(item));
    const links = [{ rel: "item", href: "./item.json" }];
    const catalog = { type: "Catalog", stac_version: "1.0.0", id: "several", description: "One scene", links };
    await writeFile(join(scene, "catalog.json"), JSON.stringify(catalog));
    const target = join(folder, "several-out");
    await run("mkdir", ["-p", target]);
    const ndvi = (one: string, other: string) =>
      run(join(examples, "bin/swath-examples"), ["ndvi", "--scene", scene, "--red", one, "--nir", other], {
        cwd: target,
        ...system,
      });
    await ndvi("both#r", "both#2");
    const [made] = await readScenes(target);
    const whole = (await itemsOf("ndvi")).find(({ item: each }) => each.id.includes("lommel"));
    assert.ok(made !== undefined && whole !== undefined);
    assert.deepEqual(
      (await readRaster(assetPath(made, "ndvi"))).data,
      (await readRaster(assetPath(whole, "ndvi"))).data,
    );
    await assert.rejects(ndvi("both", "both#2"), { stderr: /both has 2 bands; say which: both#r, #n/ });
    await assert.rejects(ndvi("both#1", "both#3"), { stderr: /there is no such band/ });
    await assert.rejects(ndvi("both#1", "both#1"), { stderr: /an index of one band with itself is 0 everywhere/ });
  },
);

test("a tool says what is wrong with its input", async () => {
  const tool = (...args: string[]) => run(join(examples, "bin/swath-examples"), args, { cwd: folder });
  const scene = join(examples, "scenes/lommel");
  await assert.rejects(tool("ndvi", "--scene", scene, "--red", "B04"), {
    stderr: /has no asset "B04"; it has blue, green, red, nir/,
  });
  await assert.rejects(tool("crop", "--scene", scene, "--bbox", "5,4,3,2"), {
    stderr: /write west,south,east,north in degrees/,
  });
  await assert.rejects(tool("mosaic", "--bands", "red"), { stderr: /at least one --scene/ });
  await assert.rejects(tool("nothing"), { stderr: /unknown tool "nothing"; tools: ndvi/ });
});

type Grid = Awaited<ReturnType<typeof readRaster>>["grid"];

function pixelAt(grid: Grid, other: Grid, x: number, y: number): number | undefined {
  const column = Math.round((other.west + x * other.pixel - grid.west) / grid.pixel);
  const row = Math.round((grid.north - (other.north - y * other.pixel)) / grid.pixel);
  return column >= 0 && row >= 0 && column < grid.width && row < grid.height ? row * grid.width + column : undefined;
}

test("results carry the place and date of their scenes", async () => {
  for (const scene of await itemsOf("ndvi")) {
    const name = scene.item.id.includes("lommel") ? "lommel" : "canberra";
    const original = JSON.parse(await readFile(join(examples, "scenes", name, "item.json"), "utf8")) as StacItem;
    assert.deepEqual(scene.item.geometry, original.geometry);
    assert.equal(scene.item.properties["datetime"], original.properties["datetime"]);
    assert.equal(scene.item.properties["proj:code"], `EPSG:${String(original.properties["proj:epsg"])}`);
    assert.equal(scene.item.stac_version, "1.1.0");
    assert.ok(Array.isArray(scene.item.assets["ndvi"]?.["bands"]));
  }
});
