import assert from "node:assert/strict";
import { test } from "node:test";

import { findCollection, getImage, getJson, start } from "./fixture.ts";

const AREA = {
  type: "Feature",
  properties: { name: "triangle" },
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [15.2, 46.3],
        [15.4, 46.3],
        [15.2, 46.4],
        [15.2, 46.3],
      ],
    ],
  },
};
const post = async (url: string, body: unknown) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

test("a collection at the paths of today's tilers: info, statistics, values, parts, crops, tiles", async (t) => {
  const { url } = await start(t);
  const base = `${url}/collections/${await findCollection(url)}`;
  const info = (await getJson(`${base}/info`)) as unknown as { styles: { id: string }[]; bounds: number[] };
  assert.ok(info.styles.some(({ id }) => id === "ndvi"));
  const bbox = "bbox=15.2,46.3,15.4,46.4";
  const whole = (await getJson(`${base}/statistics?${bbox}&expression=(nir-red)/(nir%2Bred)`)) as unknown as Record<
    string,
    Record<string, number>
  >;
  const [ndvi] = Object.values(whole);
  assert.ok(ndvi !== undefined && (ndvi["mean"] ?? 0) > 0.3 && (ndvi["max"] ?? 2) <= 1, JSON.stringify(whole));
  const response = await post(`${base}/statistics?assets=red&max_size=200`, AREA);
  const feature = (await response.json()) as {
    properties: {
      name: string;
      statistics: Record<string, Record<"count" | "valid_pixels" | "masked_pixels", number>>;
    };
  };
  assert.equal(feature.properties.name, "triangle");
  const { count = 0, valid_pixels: valid = 0, masked_pixels: masked = 0 } = feature.properties.statistics["b1"] ?? {};
  const half = count / (valid + masked);
  assert.ok(half > 0.4 && half < 0.51, `a triangle is half of its box, not ${half}`);
  const point = (await getJson(`${base}/point/15.3,46.35?assets=red&assets=nir`)) as unknown as {
    assets: { name: string; values: number[]; datetime: string }[];
  };
  assert.equal(point.assets.length, 2, "both days");
  assert.ok((point.assets[0]?.datetime ?? "") > (point.assets[1]?.datetime ?? ""));
  const part = await getImage(`${base}/bbox/15.2,46.3,15.4,46.4/100x50.png?style=ndvi`);
  assert.deepEqual([part.width, part.height], [100, 50]);
  const crop = await post(`${base}/feature/100x50.png?style=ndvi`, AREA);
  assert.equal(crop.status, 200);
  const bytes = Buffer.from(await crop.arrayBuffer());
  assert.ok(bytes.length < 20_000 && bytes.length > 500);
  const tilejson = (await getJson(`${base}/WebMercatorQuad/tilejson.json?style=ndvi`)) as unknown as {
    tiles: string[];
  };
  const template = tilejson.tiles[0] ?? "";
  const tile = await getImage(template.replace("{z}", "9").replace("{x}", "277").replace("{y}", "181"));
  assert.ok(tile.width === 256 && tile.mean > 5);
  const double = await getImage(template.replace("{z}", "9").replace("{x}", "277").replace("{y}", "181@2x"));
  assert.equal(double.width, 512);
});

test("pixels are selected in space and time as asked", async (t) => {
  const { url } = await start(t);
  const base = `${url}/collections/${await findCollection(url)}`;
  const mean = async (selection: string) => {
    const text = await (
      await fetch(`${base}/statistics?bbox=15.2,46.3,15.4,46.4&assets=red&max_size=200&pixel_selection=${selection}`)
    ).text();
    const { b1 } = JSON.parse(text) as { b1?: { mean: number } };
    assert.ok(b1 !== undefined, text);
    return b1.mean;
  };
  const [newest, oldest, middle, lowest, highest] = [
    await mean("newest"),
    await mean("oldest"),
    await mean("mean"),
    await mean("lowest"),
    await mean("highest"),
  ];
  assert.notEqual(newest, oldest);
  assert.ok(lowest < middle && middle < highest && lowest <= newest && newest <= highest);
  assert.equal((await fetch(`${base}/preview.png?pixel_selection=best`)).status, 400);
});

test("a search is a layer by its own id", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const registered = await post(`${url}/searches/register`, { collections: [collection], datetime: "2023-08-20" });
  const { id, links } = (await registered.json()) as { id: string; links: { rel: string; href: string }[] };
  assert.ok(links.some(({ rel }) => rel === "tilejson"));
  const image = await getImage(`${url}/searches/${id}/bbox/15.2,46.3,15.4,46.4/64x32.png?style=ndvi`);
  assert.ok(image.mean > 5);
  const point = (await getJson(`${url}/searches/${id}/point/15.3,46.35?assets=red`)) as unknown as {
    assets: unknown[];
  };
  assert.equal(point.assets.length, 1, "one day of two");
  const nothing = await post(`${url}/searches/register`, { collections: ["none"] });
  const other = (await nothing.json()) as { id: string };
  assert.equal((await fetch(`${url}/searches/${other.id}/info`)).status, 404);
  assert.equal((await fetch(`${url}/searches/bm9uc2Vuc2U/info`)).status, 404);
  assert.equal((await post(`${url}/searches/register`, { bbox: [1, 2] })).status, 400);
  assert.equal(
    (await post(`${url}/searches/register`, { ids: Array.from({ length: 900 }, () => crypto.randomUUID()) })).status,
    400,
  );
});

test("OGC API Coverages: areas, bands, sizes and systems of values", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const { features } = (await (
    await fetch(
      `${url}/ows?service=WMS&version=1.3.0&request=GetFeatureInfo&layers=${collection}&styles=&query_layers=${collection}&info_format=application/json&i=5&j=5&width=10&height=10&feature_count=5&crs=CRS:84&bbox=15.2,46.3,15.4,46.4`,
    )
  ).json()) as { features: { id: string }[] };
  const item = `${url}/collections/${collection}__${features[0]?.id ?? ""}`;
  const range = (await getJson(`${item}/coverage/rangetype`)) as unknown as {
    field: { name: string }[];
  };
  assert.deepEqual(range.field.map(({ name }) => name).toSorted(), ["nir", "red", "scl"]);
  const grid = (await (
    await fetch(`${item}/coverage?f=covjson&properties=red,nir&subset=Lat(46.3:46.32),Lon(15.2:15.22)&scale-factor=4`)
  ).json()) as {
    domain: { axes: { x: { num: number }; y: { num: number } } };
    ranges: Record<string, { values: (number | null)[]; shape: number[] }>;
  };
  const { x, y } = grid.domain.axes;
  assert.equal(grid.ranges["red"]?.values.length, x.num * y.num);
  assert.ok((grid.ranges["nir"]?.values ?? []).some((value) => (value ?? 0) > 100));
  const tiff = await fetch(`${item}/coverage?f=tiff&properties=red&crs=EPSG:3857&bbox=15.2,46.3,15.22,46.32&width=40`);
  assert.equal(tiff.status, 200);
  assert.match(tiff.headers.get("content-type") ?? "", /image\/tiff/);
  assert.equal(Buffer.from(await tiff.arrayBuffer()).readUInt16LE(2), 42);
  for (const [wrong, text] of [
    ["properties=blue", "red, nir"],
    ["subset=Depth(1:2)", "axis"],
    ["subset=Lat(80:81)", "outside"],
    ["scale-factor=x", "scale factor"],
    ["crs=EPSG:1", "reference system"],
    ["f=gif", "f must be"],
  ] as const) {
    const response = await fetch(`${item}/coverage?${wrong}`);
    assert.equal(response.status, 400, wrong);
    assert.match(await response.text(), new RegExp(text), wrong);
  }
});

test("EDR: values over time, of an area and along a line; series of an area", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const base = `${url}/collections/${collection}`;
  const position = (await getJson(`${base}/position?coords=POINT(15.3%2046.35)&parameter-name=red,nir`)) as unknown as {
    domain: { axes: { t: { values: string[] } } };
    ranges: Record<string, { values: number[] }>;
  };
  assert.equal(position.domain.axes.t.values.length, 2);
  assert.deepEqual(position.domain.axes.t.values, position.domain.axes.t.values.toSorted());
  assert.ok(position.ranges["red"]?.values.every((value) => value > 0));
  for (const coords of ["MULTIPOINT((15.3%2046.35),(15.31%2046.36))", "MULTIPOINT(15.3%2046.35,15.31%2046.36)"]) {
    const several = (await getJson(`${base}/position?coords=${coords}&parameter-name=red`)) as unknown as {
      type: string;
      coverages: { ranges: Record<string, { values: unknown[] }> }[];
    };
    assert.equal(several.type, "CoverageCollection");
    assert.equal(several.coverages.length, 2);
    assert.ok(several.coverages.every(({ ranges }) => (ranges["red"]?.values.length ?? 0) > 0));
  }
  const old = (await getJson(`${url}/coverages/metadata?id=${collection}`)) as unknown as {
    id: string;
    type: string;
    generalGrid: { axis: unknown[] };
    rangeType: { field: { name: string }[] };
  };
  assert.deepEqual([old.id, old.type, old.generalGrid.axis.length], [collection, "DomainSet", 2]);
  assert.ok(old.rangeType.field.some(({ name }) => name === "red"));
  assert.equal((await fetch(`${url}/coverages/metadata`)).status, 400);
  assert.equal((await fetch(`${url}/coverages/metadata?id=none`)).status, 404);
  const csv = await (await fetch(`${base}/position?coords=POINT(15.3%2046.35)&parameter-name=red&f=csv`)).text();
  assert.equal(csv.trim().split("\r\n").length, 3);
  const area = (await getJson(
    `${base}/area?coords=POLYGON((15.2%2046.3,15.4%2046.3,15.2%2046.4,15.2%2046.3))&parameter-name=red`,
  )) as unknown as { ranges: Record<string, { values: (number | null)[]; shape: number[] }> };
  const values = area.ranges["red"]?.values ?? [];
  const share = values.filter((value) => value === null).length / values.length;
  assert.ok(share > 0.4 && share < 0.6, `half is outside of the triangle, not ${share}`);
  const line = (await getJson(
    `${base}/trajectory?coords=LINESTRING(15.25%2046.32,15.35%2046.38)&parameter-name=red`,
  )) as unknown as {
    ranges: Record<string, { values: (number | null)[] }>;
  };
  assert.ok((line.ranges["red"]?.values ?? []).filter((value) => value !== null).length > 400);
  const along = `${base}/profile?coords=LINESTRING(15.25%2046.32,15.35%2046.32,15.35%2046.38)&datetime=2023-08-20`;
  const profile = (await getJson(`${along}&style=ndvi`)) as unknown as {
    expressions: string[];
    points: { x: number; y: number; kilometres: number; values: (number | null)[] }[];
  };
  assert.deepEqual([profile.expressions.length, profile.points.length], [1, 500]);
  assert.ok(profile.points.every(({ values: [value] }) => value === null || (value! > -1 && value! < 1)));
  assert.ok(profile.points.filter(({ values: [value] }) => value !== null).length > 400);
  const [first, last] = [profile.points[0], profile.points.at(-1)];
  assert.deepEqual([first?.x, first?.y, first?.kilometres, last?.x, last?.y], [15.25, 46.32, 0, 15.35, 46.38]);
  assert.ok(Math.abs((last?.kilometres ?? 0) - 14.35) < 0.1, `${last?.kilometres} km`);
  // The middle of the line, as the point service has it.
  const middle = profile.points[100]!;
  const point = (await getJson(`${base}/point/${middle.x},${middle.y}?style=ndvi&datetime=2023-08-20`)) as unknown as {
    assets: { values: number[] }[];
  };
  assert.ok(Math.abs((point.assets[0]?.values[0] ?? 9) - (middle.values[0] ?? 0)) < 0.5);
  const table = (await (await fetch(`${along}&expression=${encodeURIComponent("where(nir>0,nir,0)")}&f=csv`)).text())
    .trim()
    .split("\r\n");
  assert.deepEqual([table.length, table[0]], [501, 'x,y,kilometres,"where(nir>0,nir,0)"']);
  const nowhere = (await getJson(
    `${base}/profile?coords=LINESTRING(0%200,1%201)&style=ndvi`,
  )) as unknown as typeof profile;
  assert.ok(nowhere.points.every(({ values: [value] }) => value === null));
  const series = (await (await post(`${base}/timeseries?style=ndvi`, AREA)).json()) as {
    series: { datetime: string; statistics: Record<string, { mean: number }> }[];
  };
  assert.equal(series.series.length, 2);
  assert.ok(
    series.series.every(({ statistics }) => Object.values(statistics).every(({ mean }) => mean > -1 && mean < 1)),
  );
  for (const wrong of [
    "position",
    "position?coords=POINT(1)",
    "area?coords=POINT(1%202)",
    "trajectory?coords=POINT(1%202)",
    "profile",
    "profile?coords=POINT(1%202)",
    "profile?coords=LINESTRING(1%202,1%202)",
    "profile?coords=LINESTRING(1%202,2%202)&expression=nir%2B",
  ]) {
    assert.equal((await fetch(`${base}/${wrong}`)).status, 400, wrong);
  }
});
