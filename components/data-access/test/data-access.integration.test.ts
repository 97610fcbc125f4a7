import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { waitUntil } from "@swath/testing";

import { findCollection, getImage, getJson, start } from "./fixture.ts";

const MARIBOR = "http://www.opengis.net/def/crs/EPSG/0/32633";
const AREA = "1690000,5825000,1710000,5845000";

test("files by their address: info, statistics, values, pictures, tiles", async (t) => {
  const { url, files } = await start(t);
  const file = `url=${encodeURIComponent(`${files}/maribor-0820/B04.tif`)}`;
  const info = (await getJson(`${url}/cog/info?${file}`)) as Record<string, unknown>;
  assert.equal(info["crs"], MARIBOR);
  assert.equal(info["dtype"], "uint16");
  assert.equal(info["nodata_value"], 0);
  const statistics = (await getJson(`${url}/cog/statistics?${file}`)) as unknown as Record<
    string,
    Record<string, number>
  >;
  assert.ok((statistics["b1"]?.["percentile_98"] ?? 0) > (statistics["b1"]?.["percentile_2"] ?? 0));
  const point = (await getJson(`${url}/cog/point/15.3,46.35?${file}`)) as unknown as { values: (number | null)[] };
  assert.equal(point.values.length, 1);
  assert.equal((await fetch(`${url}/cog/point/0,0?${file}`)).status, 404);
  const preview = await getImage(`${url}/cog/preview.png?${file}&max_size=100&rescale=0,2000`);
  assert.equal(Math.max(preview.width, preview.height), 100);
  assert.ok(preview.mean > 5);
  const tilejson = (await getJson(
    `${url}/cog/WebMercatorQuad/tilejson.json?${file}&rescale=0,2000&tile_format=png`,
  )) as unknown as { tiles: string[]; bounds: number[]; maxzoom: number };
  const [west = 0, south = 0, east = 0, north = 0] = tilejson.bounds;
  const z = tilejson.maxzoom;
  const x = Math.floor((((west + east) / 2 + 180) / 360) * 2 ** z);
  const latitude = (((south + north) / 2) * Math.PI) / 180;
  const y = Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * 2 ** z);
  const tile = await getImage(
    (tilejson.tiles[0] ?? "").replace("{z}", String(z)).replace("{x}", String(x)).replace("{y}", String(y)),
  );
  assert.deepEqual([tile.width, tile.height], [256, 256]);
  assert.ok(tile.mean > 5);
  assert.equal((await fetch(`${url}/cog/tiles/WebMercatorQuad/${z}/0/0?${file}`)).status, 404);
  const part = await getImage(
    `${url}/cog/bbox/15.2,46.3,15.3,46.4/64x80.webp?${file}&colormap_name=viridis&rescale=0,2000`,
  );
  assert.deepEqual([part.width, part.height, part.type], [64, 80, "image/webp"]);
});

test("addresses that nobody allowed are not read, and mistakes are told", async (t) => {
  const { url, files } = await start(t);
  const status = async (path: string) => (await fetch(`${url}${path}`)).status;
  assert.equal(await status("/cog/info"), 400);
  assert.equal(await status("/cog/info?url=file:///etc/passwd"), 400);
  assert.equal(await status("/cog/info?url=http://169.254.169.254/latest"), 403);
  assert.equal(await status(`/cog/info?url=${encodeURIComponent("http://127.0.0.1:1/x.tif")}`), 403);
  assert.equal(await status(`/cog/info?url=${files}/none.tif`), 404);
  assert.equal(await status(`/cog/info?url=${files}/maribor-0820/item.json`), 422);
  const file = `url=${files}/maribor-0820/B04.tif`;
  for (const wrong of [
    "expression=process.exit()",
    "rescale=1",
    "bidx=9",
    "colormap_name=none",
    "colormap=x",
    "resampling=best",
    "width=99999&height=99999",
    "algorithm=x",
    "nodata=x",
  ]) {
    assert.equal(await status(`/cog/preview.png?${file}&${wrong}`), 400, wrong);
  }
  const other = await start(t, { ALLOW_PUBLIC_URLS: "false" });
  assert.equal((await fetch(`${other.url}/cog/info?url=https://example.org/x.tif`)).status, 403);
});

test("layers come from the items of the folder, with styles, and new ones come by themselves", async (t) => {
  const { url, folder } = await start(t);
  const { collections } = (await getJson(`${url}/collections`)) as unknown as {
    collections: { id: string; styles: { id: string }[] }[];
  };
  const sentinel = collections.find(({ styles }) => styles.some(({ id }) => id === "ndvi"));
  assert.ok(sentinel !== undefined, JSON.stringify(collections));
  const item = JSON.parse(readFileSync(join(folder, "canberra/item.json"), "utf8")) as Record<string, unknown>;
  writeFileSync(join(folder, "canberra/second.json"), JSON.stringify({ ...item, id: "second", collection: "another" }));
  const status = async () => (await fetch(`${url}/collections/another`)).status;
  await waitUntil("the new layer is there", async () => (await status()) === 200);
  rmSync(join(folder, "canberra/second.json"));
  await waitUntil("the layer is gone", async () => (await status()) === 404);
});

test("OGC API Maps and Tiles: areas, systems, times, what browsers keep", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const base = `${url}/collections/${collection}`;
  const map = await getImage(`${base}/styles/ndvi/map?f=png&bbox=15.2,46.3,15.4,46.4&width=200`);
  assert.deepEqual([map.width, map.height], [200, 100]);
  assert.ok(map.mean > 10);
  const response = await fetch(`${base}/map?f=png&bbox=1690000,5825000,1710000,5845000&bbox-crs=EPSG:3857`);
  assert.equal(response.headers.get("content-crs"), "<http://www.opengis.net/def/crs/EPSG/0/3857>");
  await response.arrayBuffer();
  const northFirst = await getImage(
    `${base}/styles/ndvi/map?f=png&bbox=46.3,15.2,46.4,15.4&bbox-crs=EPSG:4326&width=200`,
  );
  assert.ok(Math.abs(northFirst.mean - map.mean) < 1);
  const empty = await getImage(`${base}/styles/ndvi/map?f=png&bbox=15.2,46.3,15.4,46.4&width=200&datetime=1990`);
  assert.equal(empty.mean, 0);
  assert.equal((await fetch(`${base}/map?datetime=yesterday`)).status, 400);
  assert.equal((await fetch(`${base}/styles/none/map`)).status, 404);
  const tile = await fetch(`${base}/styles/ndvi/map/tiles/WebMercatorQuad/9/181/277`);
  assert.equal(tile.status, 200);
  const again = await fetch(`${base}/styles/ndvi/map/tiles/WebMercatorQuad/9/181/277`, {
    headers: { "if-none-match": tile.headers.get("etag") ?? "" },
  });
  assert.equal(again.status, 304);
  assert.equal((await fetch(`${base}/map/tiles/WebMercatorQuad/1/2/0`)).status, 404);
  const tileset = (await getJson(`${base}/map/tiles/WorldCRS84Quad`)) as unknown as {
    links: { rel: string; templated?: boolean }[];
  };
  assert.ok(tileset.links.some(({ rel, templated }) => rel === "item" && templated === true));
});

test("WMS: both versions with their order of axes, layers one upon another, values, legend, exceptions in all forms", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const ows = (more: string) => `${url}/ows?service=WMS&${more}`;
  const map = `request=GetMap&layers=${collection}&styles=ndvi&width=120&height=120&format=image/png&transparent=true`;
  const first = await getImage(ows(`version=1.3.0&${map}&crs=EPSG:3857&bbox=${AREA}`));
  assert.ok(first.mean > 10);
  const degrees = await getImage(ows(`version=1.3.0&${map}&crs=EPSG:4326&bbox=46.3,15.2,46.4,15.3`));
  const old = await getImage(ows(`version=1.1.1&${map}&srs=EPSG:4326&bbox=15.2,46.3,15.3,46.4`));
  assert.ok(Math.abs(degrees.mean - old.mean) < 0.5 && degrees.mean > 10);
  const two = await getImage(
    ows(
      `version=1.3.0&request=GetMap&layers=${collection},${collection}&styles=,ndvi&width=50&height=50&format=image/jpeg&crs=EPSG:3857&bbox=${AREA}`,
    ),
  );
  assert.equal(two.type, "image/jpeg");
  const info = await fetch(
    ows(
      `version=1.3.0&${map.replace("GetMap", "GetFeatureInfo")}&query_layers=${collection}&info_format=application/json&i=60&j=60&feature_count=5&crs=EPSG:3857&bbox=${AREA}`,
    ),
  );
  const { features } = (await info.json()) as { features: { properties: Record<string, unknown> }[] };
  assert.ok(
    features.length >= 1 && Object.values(features[0]?.properties ?? {}).some(Array.isArray),
    JSON.stringify(features),
  );
  const legend = await getImage(
    ows(`version=1.3.0&request=GetLegendGraphic&layer=${collection}&style=ndvi&format=image/png`),
  );
  assert.equal(legend.width, 200);
  const fault = async (more: string) => (await fetch(ows(more))).text();
  assert.match(
    await fault(`version=1.3.0&${map.replace(collection, "none")}&crs=EPSG:3857&bbox=${AREA}`),
    /code="LayerNotDefined"/,
  );
  assert.match(await fault(`version=1.3.0&${map}&crs=EPSG:99999&bbox=${AREA}`), /code="InvalidCRS"/);
  assert.match(await fault(`version=1.1.1&${map}&srs=EPSG:99999&bbox=${AREA}`), /code="InvalidSRS"/);
  assert.match(
    await fault(`version=1.3.0&${map.replace("image/png", "image/x")}&crs=EPSG:3857&bbox=${AREA}`),
    /code="InvalidFormat"/,
  );
  assert.match(
    await fault(`version=1.3.0&${map}&crs=EPSG:3857&bbox=${AREA}&time=never`),
    /code="InvalidDimensionValue"/,
  );
  assert.match(
    await fault(`version=1.3.0&${map.replace("ndvi", "x")}&crs=EPSG:3857&bbox=${AREA}`),
    /code="StyleNotDefined"/,
  );
  assert.match(await fault("version=1.3.0&request=DoIt"), /code="OperationNotSupported"/);
  assert.match(await fault(`version=1.3.0&${map}&crs=EPSG:3857&bbox=1,1,0,0`), /ServiceException/);
  const blank = await getImage(
    ows(`version=1.3.0&${map.replace(collection, "none")}&crs=EPSG:3857&bbox=${AREA}&exceptions=BLANK`),
  );
  assert.deepEqual([blank.width, blank.mean], [120, 0]);
  assert.match(await fault("version=1.0.0&request=GetCapabilities"), /<WMT_MS_Capabilities version="1.1.1"/);
  assert.match(await fault("version=9.9.9&request=GetCapabilities"), /<WMS_Capabilities version="1.3.0"/);
});

test("WMTS: parameters and paths give the same tile", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const kvp = await fetch(
    `${url}/ows?service=WMTS&request=GetTile&version=1.0.0&layer=${collection}&style=ndvi&format=image/png&tilematrixset=WebMercatorQuad&tilematrix=9&tilerow=181&tilecol=277`,
  );
  const rest = await fetch(`${url}/wmts/1.0.0/${collection}/ndvi/default/WebMercatorQuad/9/181/277.png`);
  assert.equal(kvp.status, 200);
  assert.deepEqual(Buffer.from(await kvp.arrayBuffer()), Buffer.from(await rest.arrayBuffer()));
  const outside = await fetch(`${url}/wmts/1.0.0/${collection}/ndvi/WebMercatorQuad/1/9/9.png`);
  assert.equal(outside.status, 404);
  assert.match(await outside.text(), /exceptionCode="TileOutOfRange"/);
  assert.match(
    await (await fetch(`${url}/ows?service=WMTS&request=GetTile`)).text(),
    /exceptionCode="MissingParameterValue"/,
  );
});
