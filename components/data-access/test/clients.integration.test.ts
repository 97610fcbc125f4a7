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
