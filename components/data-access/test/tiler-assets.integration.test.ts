import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { findCollection, getImage, getJson, start } from "./fixture.ts";
import { gdalSkipReason } from "../../../libs/raster/test/gdal.ts";

const AREA = {
  type: "Feature",
  properties: { name: "box" },
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [15.2, 46.3],
        [15.4, 46.3],
        [15.4, 46.4],
        [15.2, 46.3],
      ],
    ],
  },
};
const post = async (url: string, body: unknown) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

interface Description {
  readonly description: string;
}

interface Point {
  readonly values: readonly number[];
  readonly band_names: readonly string[];
}

/** The newest scene gets an asset that has three bands in one file, the near infrared first. */
function addStack(folder: string): void {
  const path = (file: string) => join(folder, "maribor-0820", file);
  const bands = ["B08.tif", "B04.tif", "B04.tif"].map(path);
  execFileSync("gdalbuildvrt", ["-q", "-separate", path("stack.vrt"), ...bands]);
  execFileSync("gdal_translate", ["-q", path("stack.vrt"), path("stack.tif")]);
  const item = JSON.parse(readFileSync(path("item.json"), "utf8")) as { assets: Record<string, object> };
  const { type, roles } = item.assets["red"] as { type: string; roles: readonly string[] };
  item.assets["stack"] = { href: "./stack.tif", type, roles };
  writeFileSync(path("item.json"), JSON.stringify(item));
}

test(
  "assets of several bands keep them, and expressions are over the bands of the assets",
  { skip: gdalSkipReason() },
  async (t) => {
    const { folder } = await start(t);
    addStack(folder);
    const { url } = await start(t, { LAYERS_FOLDER: folder });
    const collection = await findCollection(url);
    const [item] = await listItems(url, collection);
    const base = `${url}/collections/${collection}/items/${item}`;
    const at = "point/15.3,46.35";
    const plain = (await getJson(`${base}/${at}?assets=nir&assets=red`)) as unknown as Point;
    const [nir = 0, redValue = 0] = plain.values;
    assert.ok(nir > 0 && redValue > 0, JSON.stringify(plain));
    const stack = (await getJson(`${base}/${at}?assets=stack`)) as unknown as Point;
    assert.deepEqual(
      [stack.values, stack.band_names],
      [
        [nir, redValue, redValue],
        ["b1", "b2", "b3"],
      ],
    );
    const ratio = (nir - redValue) / (nir + redValue);
    for (const query of [
      "assets=nir&assets=red&expression=(b1-b2)/(b1%2Bb2)",
      "assets=stack&expression=(b1-b2)/(b1%2Bb2)",
      "assets=stack|indexes=1,2&expression=(b1-b2)/(b1%2Bb2)",
      "assets=stack|expression=(b1-b2)/(b1%2Bb2)",
      "expression=(nir-red)/(nir%2Bred)",
    ]) {
      const { values } = (await getJson(`${base}/${at}?${query}`)) as unknown as Point;
      assert.equal(values.length, 1, query);
      assert.ok(Math.abs(values[0]! - ratio) < 1e-6, query);
    }
    const one = (await getJson(`${base}/${at}?assets=stack|indexes=2`)) as unknown as Point;
    assert.deepEqual(one.values, [redValue]);
    const statistics = await getJson(`${base}/statistics?assets=stack&max_size=64`);
    assert.deepEqual(
      Object.entries(statistics).map(([name, values]) => [name, (values as unknown as Description).description]),
      [1, 2, 3].map((band) => [`b${band}`, `stack_b${band}`]),
    );
    const array = Buffer.from(
      await (await fetch(`${base}/bbox/15.2,46.3,15.4,46.4/8x4.npy?assets=stack`)).arrayBuffer(),
    );
    assert.match(array.toString("latin1", 0, 128), /'shape': \(4, 4, 8\)/);
    for (const [query, text] of [
      ["assets=none", "red"],
      ["assets=stack&expression=b4", "b4"],
      ["assets=stack|bands=1", "indexes"],
      ["assets=stack|indexes=x", "numbers"],
    ] as const) {
      const response = await fetch(`${base}/bbox/15.2,46.3,15.4,46.4/8x4.png?${query}`);
      assert.equal(response.status, 400, query);
      assert.match(await response.text(), new RegExp(text), query);
    }
  },
);

test("items of a collection are at the paths of today's tilers", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const [item] = await listItems(url, collection);
  const base = `${url}/collections/${collection}/items/${item}`;
  for (const path of [
    "info",
    "info.geojson",
    "assets",
    "statistics?assets=red&max_size=64",
    "point/15.3,46.35?assets=red",
  ]) {
    assert.equal((await fetch(`${base}/${path}`)).status, 200, path);
  }
  const info = await getJson(`${base}/info`);
  assert.deepEqual(Object.keys(info).toSorted(), ["nir", "red", "scl"]);
  const preview = await getImage(`${base}/preview/40x30.png?assets=red&rescale=0,3000`);
  assert.deepEqual([preview.width, preview.height], [40, 30]);
  const tilejson = (await getJson(`${base}/WebMercatorQuad/tilejson.json?assets=red`)) as unknown as {
    tiles: string[];
  };
  const tile = await getImage(tilejson.tiles[0]!.replace("{z}", "9").replace("{x}", "277").replace("{y}", "181"));
  assert.equal(tile.width, 256);
  assert.equal((await fetch(`${url}/collections/${collection}/items/none/info`)).status, 404);
});

test("parameters have an effect or are refused with what there is", async (t) => {
  const { url, files } = await start(t);
  const collection = await findCollection(url);
  const file = `${url}/cog/preview/20x20.png?url=${files}/maribor-0820/B04.tif`;
  const scene = `${url}/collections/${collection}/bbox/15.2,46.3,15.4,46.4/20x20.png?assets=red`;
  const wrong = ["color_formula=saturation+2", "buffer=2", "histogram_range=3,1&histogram_bins=x", "rescal=0,1"];
  for (const base of [file, scene]) {
    assert.equal((await fetch(`${base}&color_formula=gamma+RGB+1.5&return_mask=false`)).status, 200, base);
    for (const query of wrong.filter((each) => !each.startsWith("histogram"))) {
      const response = await fetch(`${base}&${query}`);
      assert.equal(response.status, 400, `${base}&${query}`);
    }
  }
  const statistics = `${url}/cog/statistics?url=${files}/maribor-0820/B04.tif`;
  const { b1 } = (await getJson(`${statistics}&histogram_range=0,1000&histogram_bins=4`)) as unknown as {
    b1: { histogram: number[][] };
  };
  assert.deepEqual(b1.histogram[1], [0, 250, 500, 750, 1000]);
  assert.equal((await fetch(`${statistics}&histogram_range=3,1`)).status, 400);
  const classes = `${url}/cog/statistics?url=${files}/maribor-0820/SCL.tif&categorical=True`;
  const all = (await getJson(classes)) as unknown as { b1: { histogram: number[][]; count: number } };
  assert.equal(
    all.b1.histogram[0]!.reduce((sum, count) => sum + count, 0),
    all.b1.count,
  );
  assert.ok(all.b1.histogram[1]!.every((value) => Number.isInteger(value) && value <= 11));
  const some = (await getJson(`${classes}&c=4&c=99`)) as unknown as typeof all;
  const vegetation = all.b1.histogram[0]![all.b1.histogram[1]!.indexOf(4)];
  assert.deepEqual(some.b1.histogram, [
    [vegetation, 0],
    [4, 99],
  ]);
  assert.equal((await fetch(`${classes}&c=x`)).status, 400);
  const cut = await post(`${statistics}&max_size=200`, AREA);
  const { properties } = (await cut.json()) as {
    properties: {
      name: string;
      statistics: { b1: Record<"valid_percent" | "valid_pixels" | "masked_pixels" | "count", number> };
    };
  };
  assert.equal(properties.name, "box");
  const { count, valid_pixels: pixels, masked_pixels: masked, valid_percent: percent } = properties.statistics.b1;
  // The triangle is half of its box, and every pixel of it is there; those that its edges cross count by their part.
  const half = count / (pixels + masked);
  assert.ok(half > 0.45 && half < 0.51 && pixels > count && pixels < count * 1.1 && percent > 99, `${half}`);
  const crop = await post(`${url}/cog/feature/30x20.png?url=${files}/maribor-0820/B04.tif`, AREA);
  assert.deepEqual([crop.status, crop.headers.get("content-type")], [200, "image/png"]);
  const double = await getImage(`${url}/cog/tiles/WebMercatorQuad/9/277/181@2x.png?url=${files}/maribor-0820/B04.tif`);
  assert.equal(double.width, 512);
  const wide = await getImage(
    `${url}/cog/tiles/WebMercatorQuad/9/277/181.png?buffer=2&url=${files}/maribor-0820/B04.tif`,
  );
  assert.equal(wide.width, 260);
});

test("unknown paths are not found; lists of names are", async (t) => {
  const { url } = await start(t);
  for (const path of ["/nonsense", "/cog/nonsense", "/collections/x/nonsense", "/colorMaps/none"]) {
    const response = await fetch(`${url}${path}`, { headers: { accept: "text/html,*/*" } });
    assert.equal(response.status, 404, path);
  }
  assert.match(await (await fetch(`${url}/nonsense`)).text(), /\/docs/);
  assert.equal(Object.keys(await getJson(`${url}/colorMaps/viridis`)).length, 256);
  const { algorithms } = (await getJson(`${url}/algorithms`)) as unknown as { algorithms: { id: string }[] };
  assert.ok(algorithms.some(({ id }) => id === "hillshade"));
});

test("a coverage in the scenes' own system has their own pixels", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const query = "f=covjson&properties=red&crs=EPSG:32633&bbox-crs=EPSG:32633&bbox=520000,5130000,521000,5130500";
  const { domain } = (await getJson(`${url}/collections/${collection}/coverage?${query}`)) as unknown as {
    domain: { axes: { x: { start: number; stop: number; num: number }; y: { num: number } } };
  };
  const { x, y } = domain.axes;
  assert.deepEqual([x.num, y.num, (x.stop - x.start) / (x.num - 1)], [10, 5, 120]);
  // Columns of the file begin at 499,980 m.
  assert.equal((x.start - 60 - 499_980) % 120, 0);
});

async function listItems(url: string, collection: string): Promise<readonly string[]> {
  const { features } = (await getJson(
    `${url}/ows?service=WMS&version=1.3.0&request=GetFeatureInfo&layers=${collection}&styles=&query_layers=${collection}&info_format=application/json&i=5&j=5&width=10&height=10&feature_count=5&crs=CRS:84&bbox=15.2,46.3,15.4,46.4`,
  )) as unknown as { features: { id: string }[] };
  return features.map(({ id }) => id);
}
