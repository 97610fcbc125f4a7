import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { gdalSkipReason } from "../../../libs/raster/test/gdal.ts";
import { getImage, start } from "./fixture.ts";

const [WIDTH, HEIGHT] = [300, 200];

test("describes and draws a file without georeference in columns and rows", { skip: gdalSkipReason() }, async (t) => {
  const { url, files, folder } = await start(t);
  const source = join(folder, "maribor-0820/B04.tif");
  const plain = join(folder, "plain.tif");
  const size = ["-srcwin", "100", "50", String(WIDTH), String(HEIGHT)];
  execFileSync("gdal_translate", ["-q", ...size, "-co", "PROFILE=BASELINE", source, plain]);
  const valueAt = (column: number, row: number) =>
    Number(execFileSync("gdallocationinfo", ["-valonly", plain, String(column), String(row)], { encoding: "utf8" }));
  const file = `url=${encodeURIComponent(`${files}/plain.tif`)}`;
  const send = async (path: string, body?: unknown) => {
    const response = await fetch(`${url}/cog/${path}${path.includes("?") ? "&" : "?"}${file}`, {
      ...(body !== undefined && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const text = await response.text();
    // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
    return {
      status: response.status,
      headers: response.headers,
      json: (text.startsWith("{") ? JSON.parse(text) : {}) as any,
    };
  };

  const { json: info } = await send("info");
  // As rasterio tells them: left, bottom, right, top, with rows that grow downwards.
  assert.deepEqual(info.bounds, [0, HEIGHT, WIDTH, 0]);
  assert.equal(info.crs, null);
  assert.equal((await send("info.geojson")).json.geometry, null);
  const preview = await getImage(`${url}/cog/preview.png?${file}`);
  assert.deepEqual([preview.width, preview.height], [WIDTH, HEIGHT]);
  for (const [column, row] of [
    [20, 30],
    [299, 199],
    [0, 0],
  ] as const) {
    const point = await send(`point/${column + 0.5},${row + 0.5}`);
    assert.deepEqual(point.json.values, [valueAt(column, row)]);
    assert.deepEqual(point.json.coordinates, [column + 0.5, row + 0.5]);
    const own = await send(`point/${column + 0.5},${row + 0.5}?expression=b1*2`);
    assert.deepEqual(own.json.values, [2 * valueAt(column, row)]);
  }
  assert.equal((await send("point/300.5,10")).status, 404);

  const ring = [
    [20, 30],
    [21, 30],
    [21, 31],
    [20, 31],
    [20, 30],
  ];
  const feature = { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [ring] } };
  const statistics = await send("statistics", feature);
  assert.equal(statistics.json.properties.statistics.b1.max, valueAt(20, 30), JSON.stringify(statistics.json));
  for (const box of ["20,60,70,30", "20,30,70,60"]) {
    const part = await getImage(`${url}/cog/bbox/${box}.png?${file}`);
    assert.deepEqual([part.width, part.height], [50, 30], box);
  }
  const response = await fetch(`${url}/cog/bbox/20,60,70,30.png?${file}`);
  assert.equal(response.headers.get("content-bbox"), "20,60,70,30");
  assert.equal(response.headers.get("content-crs"), null);

  for (const path of [
    "tiles/WebMercatorQuad/0/0/0.png",
    "WebMercatorQuad/tilejson.json",
    "preview.png?dst_crs=EPSG:3857",
    "bbox/15,46,16,47.png?coord_crs=EPSG:4326",
    "point/15,46?coord_crs=EPSG:4326",
  ]) {
    const { status, json } = await send(path);
    assert.equal(status, 422, path);
    assert.match(json.detail, /not georeferenced/, path);
  }
});
