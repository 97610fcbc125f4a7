import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { gdalSkipReason } from "../../../libs/raster/test/gdal.ts";
import { findCollection, getJson, start } from "./fixture.ts";

interface GridCoverage {
  readonly domain: { readonly axes: Record<"x" | "y", { start: number; stop: number; num: number }> };
  readonly ranges: Record<string, { readonly values: readonly (number | null)[]; readonly shape: readonly number[] }>;
}

interface Feature {
  readonly id: string;
  readonly geometry: { readonly type: string };
  readonly properties: { readonly datetime: string; readonly edrqueryendpoint: string };
}

test("EDR: radius, cube and items, and what collections say of them", async (t) => {
  const { url, folder } = await start(t);
  const collection = await findCollection(url);
  const base = `${url}/collections/${collection}`;
  const description = (await getJson(base)) as unknown as {
    parameter_names: Record<string, { type: string; observedProperty: { label: unknown } }>;
    data_queries: Record<string, { link: { href: string } }>;
    links: { rel: string; href: string }[];
  };
  assert.equal(description.parameter_names["red"]?.type, "Parameter");
  assert.deepEqual(Object.keys(description.data_queries), [
    "position",
    "area",
    "radius",
    "cube",
    "trajectory",
    "corridor",
    "items",
    "locations",
  ]);
  const data = description.links.find(({ rel }) => rel === "data");
  const { features } = (await getJson(`${data!.href}?limit=2`)) as unknown as { features: readonly Feature[] };
  assert.equal(features.length, 2);
  assert.equal(features[0]!.geometry.type, "Polygon");
  const feature = (await getJson(`${base}/items/${features[1]!.id}`)) as unknown as Feature;
  assert.deepEqual(feature, features[1]);
  assert.equal((await fetch(`${base}/items/none`)).status, 404);
  const dated = (await getJson(`${base}/items?datetime=1990`)) as unknown as { features: readonly Feature[] };
  assert.deepEqual(dated.features, []);

  await t.test("radius gives what is within the distance", async () => {
    const at = `${base}/radius?coords=POINT(15.3%2046.35)&parameter-name=red`;
    const { ranges, domain } = (await getJson(`${at}&within=2&within-units=km`)) as unknown as GridCoverage;
    const { values, shape } = ranges["red"]!;
    const share = values.filter((value) => value !== null).length / values.length;
    assert.ok(Math.abs(share - Math.PI / 4) < 0.02, `${share} of the box`);
    // 2 km of the ellipsoid at this latitude.
    const { x, y } = domain.axes;
    const [wide, high] = [
      ((x.stop - x.start) / (x.num - 1)) * shape[1]!,
      ((y.start - y.stop) / (y.num - 1)) * shape[0]!,
    ];
    assert.ok(Math.abs(wide * 111_320 * Math.cos((46.35 * Math.PI) / 180) - 4000) < 60, `${wide}`);
    assert.ok(Math.abs(high * 111_150 - 4000) < 60, `${high}`);
    for (const wrong of [
      "",
      "&within=2",
      "&within=2&within-units=furlong",
      "&within=-1&within-units=km",
      "&within=x&within-units=m",
    ]) {
      assert.equal((await fetch(`${at}${wrong}`)).status, 400, wrong);
    }
    assert.equal((await fetch(`${at}&within=2&within-units=km&z=10`)).status, 400);
  });

  await t.test("corridor gives what is within half of its width of a line, corners and ends included", async () => {
    const line = "LINESTRING(15.26%2046.35,15.30%2046.35,15.30%2046.375)";
    const at = `${base}/corridor?coords=${line}&parameter-name=red`;
    const { ranges, domain } = (await getJson(
      `${at}&corridor-width=400&width-units=m&corridor-height=1&height-units=m`,
    )) as unknown as GridCoverage;
    const { values } = ranges["red"]!;
    const { x, y } = domain.axes;
    const [cellX, cellY] = [(x.stop - x.start) / (x.num - 1), (y.start - y.stop) / (y.num - 1)];
    const metresX = cellX * 111_320 * Math.cos((46.36 * Math.PI) / 180) * 1.0017;
    const area = values.filter((value) => value !== null).length * metresX * cellY * 111_160;
    // Lengths of the two parts on the ellipsoid, the half circles at the ends, and the corner: a quarter of a circle outside of it, and a square inside twice.
    const [first, second] = [3080.3, 2779];
    const expected = 400 * (first + second) + Math.PI * 200 ** 2 + (Math.PI * 200 ** 2) / 4 - 200 ** 2;
    assert.ok(Math.abs(area / expected - 1) < 0.02, `${area} instead of ${expected}`);
    const valueAt = (longitude: number, latitude: number) =>
      values[Math.round((y.start - latitude) / cellY) * x.num + Math.round((longitude - x.start) / cellX)];
    assert.notEqual(valueAt(15.3, 46.35), null, "the corner, where two parts overlap");
    assert.notEqual(valueAt(15.28, 46.3512), null, "130 m beside the line");
    assert.equal(valueAt(15.28, 46.353), null, "330 m beside the line");
    for (const wrong of [
      "",
      "&corridor-width=400",
      "&corridor-width=-1&width-units=m",
      "&corridor-width=4&width-units=x",
      "&corridor-width=4&width-units=m&corridor-height=4",
      "&corridor-width=4&width-units=m&corridor-height=-4&height-units=m",
      "&corridor-width=4&width-units=m&corridor-height=4&height-units=x",
    ]) {
      assert.equal((await fetch(`${at}${wrong}`)).status, 400, wrong);
    }
    const point = at.replace(line, "POINT(15.3%2046.35)");
    assert.equal((await fetch(`${point}&corridor-width=400&width-units=m`)).status, 400);
    const long = at.replace(line, "LINESTRING(0%2046,40%2046)");
    assert.equal((await fetch(`${long}&corridor-width=400&width-units=m`)).status, 400);
  });

  await t.test("cube of an item has the values that GDAL reads", { skip: gdalSkipReason() }, async () => {
    const box = [523_980, 5_133_180, 524_460, 5_133_540];
    const id = (await getJson(`${base}/items?datetime=2023-08-20`)) as unknown as { features: readonly Feature[] };
    const { edrqueryendpoint } = id.features[0]!.properties;
    const cube = (await getJson(
      `${edrqueryendpoint}?bbox=${box.join(",")}&crs=EPSG:32633&parameter-name=red`,
    )) as unknown as GridCoverage;
    const source = join(folder, "maribor-0820/B04.tif");
    const window = ["-projwin", ...[box[0], box[3], box[2], box[1]].map(String)];
    const text = execFileSync("gdal_translate", ["-q", "-of", "XYZ", ...window, source, "/vsistdout/"], {
      encoding: "utf8",
    });
    const expected = text
      .trim()
      .split("\n")
      .map((line) => Number(line.split(" ")[2]));
    assert.deepEqual(cube.ranges["red"]!.values, expected);
    const sized = (await getJson(
      `${edrqueryendpoint}?bbox=15.3,46.34,15.31,46.35&resolution-x=7&resolution-y=5&parameter-name=red`,
    )) as unknown as GridCoverage;
    assert.deepEqual(sized.ranges["red"]!.shape.slice(-2), [5, 7]);
    assert.equal((await fetch(edrqueryendpoint)).status, 400);
    assert.equal((await fetch(`${edrqueryendpoint}?bbox=15.3,46.34,15.31,46.35&parameter-name=none`)).status, 400);
  });

  await t.test("locations are geohashes, with the values in the middle of their cells", async () => {
    const list = (await getJson(`${base}/locations?bbox=15.28,46.34,15.32,46.36&limit=40`)) as unknown as {
      features: {
        id: string;
        geometry: { coordinates: [number, number][][] };
        properties: { edrqueryendpoint: string };
      }[];
    };
    assert.ok(list.features.length > 5 && list.features.length <= 40, `${list.features.length}`);
    const { properties, geometry } = list.features[0]!;
    const [west, south] = geometry.coordinates[0]!.reduce((a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1])]);
    const [east, north] = geometry.coordinates[0]!.reduce((a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1])]);
    const middle = `POINT(${(west + east) / 2}%20${(south + north) / 2})`;
    const query = "parameter-name=red&datetime=2023";
    const found = (await getJson(`${properties.edrqueryendpoint}?${query}`)) as unknown as GridCoverage;
    assert.deepEqual(found, await getJson(`${base}/position?coords=${middle}&${query}`));
    assert.ok(found.ranges["red"]!.values.length > 0);
    assert.equal((await fetch(`${base}/locations/paris`)).status, 404);
    const beside = (await getJson(`${base}/locations?bbox=-60,-40,-50,-30`)) as unknown as typeof list;
    assert.deepEqual(beside.features, []);
  });

  await t.test("the OpenAPI document has the parameters of each query that collections name", async () => {
    const { paths } = (await getJson(`${url}/api`)) as unknown as {
      paths: Record<string, { get: { parameters: { name: string; in: string; required?: boolean }[] } }>;
    };
    for (const name of Object.keys(description.data_queries)) {
      const parameters = paths[`/collections/{collection}/${name}`]?.get.parameters ?? [];
      const required = parameters.filter(({ in: place, required: must }) => place === "query" && must === true);
      const needed = /^(items|locations)$/.test(name) ? [] : [name === "cube" ? "bbox" : "coords"];
      assert.deepEqual(
        needed.filter((each) => !required.some((parameter) => parameter.name === each)),
        [],
        name,
      );
      assert.ok(parameters.length > 2, name);
    }
  });

  await t.test("tilejson ends where the pixels of the files do", async () => {
    const tilejson = (await getJson(`${base}/WebMercatorQuad/tilejson.json`)) as unknown as { maxzoom: number };
    // Pixels of 120 m, which are 172 m in Web Mercator there.
    assert.equal(tilejson.maxzoom, 10);
  });
});
