import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import sharp from "sharp";

import { makeClimateHdf5, makeClimateZarr, valueAt } from "../../../libs/raster/test/cube-files.ts";
import { makeEopfProduct, valueOf } from "../../../libs/raster/test/zarr-files.ts";
import { getJson, start } from "./fixture.ts";

const VARIABLES = {
  tas: { type: "data", dimensions: ["time", "level", "lat", "lon"], unit: "K", description: "Temperature" },
  wind: { type: "data", dimensions: ["time", "lat", "lon"] },
};
const DIMENSIONS = {
  lon: { type: "spatial", axis: "x", extent: [-180, 180] },
  lat: { type: "spatial", axis: "y", extent: [-90, 90] },
  time: { type: "temporal", extent: ["2020-01-01T00:00:00Z", "2020-01-03T00:00:00Z"] },
  level: { type: "pressure", values: [850, 500], unit: "hPa" },
};

function item(id: string, asset: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) {
  return {
    type: "Feature",
    stac_version: "1.1.0",
    id,
    collection: id,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [-180, -90],
          [180, -90],
          [180, 90],
          [-180, 90],
          [-180, -90],
        ],
      ],
    },
    bbox: [-180, -90, 180, 90],
    properties: {
      datetime: null,
      start_datetime: "2020-01-01T00:00:00Z",
      end_datetime: "2020-01-03T00:00:00Z",
      ...more,
    },
    links: [],
    assets: { data: asset },
  };
}

test("items of NetCDF, HDF5 and Zarr are layers, with their variables as styles and their dimensions to choose by", async (t) => {
  const { url, folder } = await start(t);
  const add = (name: string, document: unknown) => {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "item.json"), JSON.stringify(document));
  };
  const described = { "cube:variables": VARIABLES, "cube:dimensions": DIMENSIONS };
  add("netcdf", item("netcdf", { href: "climate.nc", type: "application/x-netcdf" }, described));
  add("zarr", item("zarr", { href: "climate.store", type: "application/vnd.zarr; version=3", ...described }));
  add("bare", item("bare", { href: "../netcdf/climate.nc", type: "application/x-hdf5" }));
  await makeClimateHdf5(join(folder, "netcdf/climate.nc"));
  await makeClimateZarr(join(folder, "zarr/climate.store"));

  const pixel = async (layer: string, style: string, query: string): Promise<readonly number[]> => {
    const response = await fetch(
      `${url}/ows?service=WMS&version=1.1.1&request=GetMap&layers=${layer}&styles=${style}&srs=EPSG:4326&bbox=0,30,20,50&width=2&height=2&format=image/png&${query}`,
    );
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(response.headers.get("content-type"), "image/png", bytes.toString("utf8", 0, 500));
    return [...(await sharp(bytes).removeAlpha().raw().toBuffer())];
  };
  const capabilities = await (await fetch(`${url}/ows?service=WMS&version=1.3.0&request=GetCapabilities`)).text();
  assert.match(capabilities, /<Dimension name="level" default="850"[^>]*units="hPa">850,500<\/Dimension>/);
  for (const layer of ["netcdf", "zarr"]) {
    const { styles } = (await getJson(`${url}/collections/${layer}`)) as unknown as { styles: { id: string }[] };
    assert.deepEqual(
      styles.map(({ id }) => id),
      ["data_tas", "data_wind"],
    );
    const seen = [];
    for (const query of ["time=2020-01-01&dim_level=850", "time=2020-01-01&dim_level=500", "time=2020-01-03", ""]) {
      seen.push(await pixel(layer, "data_tas", query));
    }
    const [first, above, last, preset] = seen;
    assert.notDeepEqual(first, above);
    assert.notDeepEqual(first, last);
    // Of times the newest, of levels the first is shown where nothing is said.
    assert.deepEqual(preset, last);
    const info = await getJson(
      `${url}/ows?service=WMS&version=1.1.1&request=GetFeatureInfo&layers=${layer}&query_layers=${layer}&styles=&srs=EPSG:4326&bbox=0,30,20,50&width=2&height=2&x=0&y=0&time=2020-01-02&dim_level=500`,
    );
    const { features } = info as unknown as { features: { properties: Record<string, number[]> }[] };
    assert.deepEqual(features[0]?.properties["data_wind"], [valueAt(1, 0, 5, 45) / 10]);
    const wrong = await fetch(
      `${url}/ows?service=WMS&version=1.3.0&request=GetMap&layers=${layer}&styles=&crs=CRS:84&bbox=0,30,20,50&width=2&height=2&format=image/png&dim_level=7`,
    );
    assert.match(await wrong.text(), /InvalidDimensionValue.*DIM_LEVEL must be one of 850, 500/);
  }
  await t.test("WMTS, OGC API and the tilers' paths choose by the same dimensions", async () => {
    const wmts = await (await fetch(`${url}/wmts/1.0.0/WMTSCapabilities.xml`)).text();
    assert.match(
      wmts,
      /<ows:Identifier>DIM_LEVEL<\/ows:Identifier><ows:UOM>hPa<\/ows:UOM><Default>850<\/Default><Value>850<\/Value><Value>500<\/Value>/,
    );
    const [, template = ""] = /template="([^"]*\/netcdf\/[^"]*\.png\?DIM_LEVEL=\{DIM_LEVEL\})"/.exec(wmts) ?? [];
    const tileAt = (level: string) =>
      template
        .replace("{Style}", "data_tas")
        .replace("{time}", "2020-01-01")
        .replace("{TileMatrixSet}", "WebMercatorQuad")
        .replace("{TileMatrix}/{TileRow}/{TileCol}", "0/0/0")
        .replace("{DIM_LEVEL}", level);
    const kvpAt = (level: string) =>
      `${url}/ows?service=WMTS&request=GetTile&version=1.0.0&layer=netcdf&style=data_tas&tilematrixset=WebMercatorQuad&tilematrix=0&tilerow=0&tilecol=0&format=image/png&time=2020-01-01&dim_level=${level}`;
    const ogcAt = (level: string) =>
      `${url}/collections/netcdf/styles/data_tas/map/tiles/WebMercatorQuad/0/0/0?f=png&datetime=2020-01-01&subset=level(${level})`;
    const tilerAt = (level: string) =>
      `${url}/collections/netcdf/tiles/WebMercatorQuad/0/0/0.png?style=data_tas&datetime=2020-01-01&sel=level=${level}`;
    const bytesOf = async (address: string) => {
      const response = await fetch(address);
      const bytes = Buffer.from(await response.arrayBuffer());
      assert.equal(response.status, 200, `${address}: ${bytes.toString("utf8", 0, 500)}`);
      return bytes;
    };
    const [low, high] = [await bytesOf(tileAt("850")), await bytesOf(tileAt("500"))];
    assert.notDeepEqual(low, high);
    for (const at of [kvpAt, ogcAt, tilerAt]) {
      assert.deepEqual(await bytesOf(at("850")), low, at("850"));
      assert.deepEqual(await bytesOf(at("500")), high, at("500"));
    }
    const wrong = await fetch(kvpAt("7"));
    assert.match(await wrong.text(), /InvalidDimensionValue.*DIM_LEVEL must be one of 850, 500/);
    for (const at of [ogcAt, tilerAt]) {
      const response = await fetch(at("7"));
      assert.deepEqual([response.status, /level must be one of 850, 500/.test(await response.text())], [400, true]);
    }
    const { extent } = (await getJson(`${url}/collections/netcdf`)) as unknown as {
      extent: { level: { unit: string; grid: { coordinates: number[] } } };
    };
    assert.deepEqual([extent.level.unit, extent.level.grid.coordinates], ["hPa", [850, 500]]);
  });

  // Without a description there is the file's first variable, and all of them by number.
  assert.deepEqual((await pixel("bare", "data", "")).length, 12);
  const tile = await fetch(`${url}/collections/zarr/styles/data_wind/map/tiles/WebMercatorQuad/0/0/0?f=png`);
  assert.equal(tile.status, 200, await tile.text());
});

test("a NetCDF file by its address, with a variable and coordinates", async (t) => {
  const { url, files, folder } = await start(t);
  await makeClimateHdf5(join(folder, "climate.nc"));
  const at = (path: string, query = "") =>
    `${url}/cog/${path}?url=${encodeURIComponent(`${files}/climate.nc`)}${query}`;
  const info = (await getJson(at("info"))) as unknown as {
    driver: string;
    count: number;
    band_descriptions: string[][];
  };
  assert.deepEqual([info.driver, info.count], ["netCDF", 9]);
  assert.match(info.band_descriptions[0]?.[1] ?? "", /^tas time=2020-01-01T00:00:00Z level=850$/);
  const point = (await getJson(at("point/10,40", "&variable=wind&sel=time=2020-01-02&unscale=true"))) as unknown as {
    values: number[];
  };
  assert.deepEqual(point.values, [15.6]);
  const wrong = await fetch(at("point/10,40", "&variable=rain"));
  assert.equal(wrong.status, 400);
  assert.match(await wrong.text(), /there are tas, wind/);
});

test("a product of EOPF is a layer by its groups: bands by their STAC names, in true colour, and indices", async (t) => {
  const { url, folder } = await start(t);
  mkdirSync(join(folder, "eopf"), { recursive: true });
  makeEopfProduct(join(folder, "eopf/S2.zarr"));
  const bands = [
    { name: "B02", "eo:common_name": "blue" },
    { name: "B03", "eo:common_name": "green" },
  ];
  const asset = (path: string, own: readonly Readonly<Record<string, unknown>>[]) => ({
    href: `S2.zarr/${path}`,
    type: "application/vnd+zarr; version=2",
    roles: ["data"],
    bands: own,
  });
  const document = item("eopf", asset("measurements/reflectance/r10m", bands));
  Object.assign(document.assets, {
    SR_20m: asset("measurements/reflectance/r20m", [{ name: "B05", "eo:common_name": "red" }]),
    B01_60m: asset("measurements/reflectance/r60m/b01", []),
  });
  writeFileSync(join(folder, "eopf/item.json"), JSON.stringify(document));
  const { styles } = (await getJson(`${url}/collections/eopf`)) as unknown as { styles: { id: string }[] };
  assert.deepEqual(
    styles.map(({ id }) => id),
    ["true-color", "data_B02", "data_B03", "SR_20m_B05", "B01_60m"],
  );
  // The middle of a pixel of 10 m, in the system of the product.
  const [column, row] = [31, 45];
  const point = await getJson(
    `${url}/collections/eopf/point/${500_000 + column * 10 + 5},${5_000_000 - row * 10 - 5}?coord_crs=EPSG:32633&assets=data_B02&assets=data_B03&assets=SR_20m_B05&assets=B01_60m`,
  );
  const expected = [
    valueOf(0, 10, column, row),
    valueOf(1, 10, column, row),
    valueOf(2, 20, Math.floor(column / 2), Math.floor(row / 2)),
    valueOf(3, 60, Math.floor(column / 6), Math.floor(row / 6)),
  ];
  const [found] = (point as unknown as { assets: { values: number[] }[] }).assets;
  assert.deepEqual(
    found?.values.map((value) => Math.round((value + 0.1) / 0.0001)),
    expected.map((value) => value % 65_536),
    JSON.stringify(point),
  );
});
