import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import sharp from "sharp";

import { findCollection, run, start } from "./fixture.ts";

const owslibSkipReason =
  spawnSync("/usr/bin/python3", ["-c", "import owslib"]).status === 0
    ? false
    : "OWSLib is not installed (package python3-owslib)";

test("OWSLib reads the capabilities and gets maps and tiles", { skip: owslibSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const collection = await findCollection(url);
  const script = join(folder, "client.py");
  writeFileSync(
    script,
    `
import sys
from owslib.wms import WebMapService
from owslib.wmts import WebMapTileService
from owslib.wcs import WebCoverageService
url, layer = sys.argv[1:]
for version in ("1.1.1", "1.3.0"):
    wms = WebMapService(url + "/ows", version=version)
    assert layer in wms.contents, list(wms.contents)
    assert "ndvi" in wms[layer].styles
    assert wms[layer].boundingBoxWGS84[0] < wms[layer].boundingBoxWGS84[2]
    assert wms[layer].timepositions, "no time"
    image = wms.getmap(layers=[layer], styles=["ndvi"], srs="EPSG:4326", bbox=(15.2, 46.3, 15.3, 46.4), size=(64, 64), format="image/png")
    assert image.read()[:4] == b"\\x89PNG"
wmts = WebMapTileService(url + "/wmts/1.0.0/WMTSCapabilities.xml")
assert layer in wmts.contents
tile = wmts.gettile(layer=layer, style="ndvi", tilematrixset="WebMercatorQuad", tilematrix="9", row=181, column=277, format="image/png")
assert tile.read()[:4] == b"\\x89PNG"
for version in ("1.0.0", "1.1.1", "2.0.1"):
    assert layer in WebCoverageService(url + "/ows", version=version).contents, version
print("ok")
`,
  );
  const { stdout, stderr } = await run("/usr/bin/python3", [script, url, collection]);
  assert.equal(stdout.trim(), "ok", stderr);
});

const gdalSkipReason =
  spawnSync("gdalinfo", ["--version"]).status === 0 ? false : "GDAL's programs are not installed (package gdal-bin)";

test("GDAL reads the layers by WMS and WMTS", { skip: gdalSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const collection = await findCollection(url);
  const list = await run("gdalinfo", [`WMS:${url}/ows`]);
  assert.match(list.stdout, new RegExp(`SUBDATASET_\\d+_NAME=WMS:.*LAYERS=${collection}`));
  const out = join(folder, "out.tif");
  const tiles = await run("gdal_translate", [
    "-q",
    "-projwin",
    "1690000",
    "5845000",
    "1710000",
    "5825000",
    "-outsize",
    "64",
    "64",
    `WMTS:${url}/wmts/1.0.0/WMTSCapabilities.xml,layer=${collection},tilematrixset=WebMercatorQuad,style=ndvi`,
    out,
  ]);
  assert.equal(tiles.status, 0, tiles.stderr);
  const { channels } = await sharp(out).stats();
  assert.ok((channels[0]?.mean ?? 0) > 10);
});

test("GDAL reads layers by OGC API: coverages and maps", { skip: gdalSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const collection = await findCollection(url);
  const item = "S2B_33TWM_20230820_0_L2A_crop";
  const list = await run("gdalinfo", [`OGCAPI:${url}`]);
  assert.match(list.stdout, new RegExp(`SUBDATASET_\\d+_NAME=OGCAPI:.*/collections/${collection}`), list.stderr);
  for (const [layer, api] of [
    [collection, "COVERAGE"],
    [item, "COVERAGE"],
    [item, "MAP"],
  ] as const) {
    const out = join(folder, "out.tif");
    const window = ["-projwin", "15.22", "46.38", "15.32", "46.3"];
    const { status, stderr } = await run("gdal_translate", [
      "-q",
      "-oo",
      `API=${api}`,
      "-oo",
      "CACHE=NO",
      ...window,
      "-outsize",
      "50",
      "40",
      `OGCAPI:${url}/collections/${layer}`,
      out,
    ]);
    assert.equal(status, 0, `${layer} ${api}: ${stderr}`);
    const { stdout } = await run("gdalinfo", ["-stats", "-json", out]);
    const { bands, wgs84Extent } = JSON.parse(stdout) as {
      bands: readonly { readonly mean: number; readonly stdDev: number }[];
      wgs84Extent: { coordinates: readonly (readonly (readonly number[])[])[] };
    };
    assert.ok((bands[0]?.mean ?? 0) > 10 && (bands[0]?.stdDev ?? 0) > 1, `${layer} ${api}: ${stdout}`);
    const [west = 0, north = 0] = wgs84Extent.coordinates[0]?.[0] ?? [];
    assert.ok(Math.abs(west - 15.22) < 0.01 && Math.abs(north - 46.38) < 0.01, `${layer} ${api}: ${west} ${north}`);
  }
});
