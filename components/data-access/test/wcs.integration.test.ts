import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { mkdtempSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { findCollection, run, start } from "./fixture.ts";

const gdalSkipReason =
  spawnSync("gdalinfo", ["--version"]).status === 0 ? false : "GDAL's programs are not installed (package gdal-bin)";
const owslibSkipReason =
  spawnSync("/usr/bin/python3", ["-c", "import owslib"]).status === 0
    ? false
    : "OWSLib is not installed (package python3-owslib)";

async function findItem(url: string): Promise<string> {
  const collection = await findCollection(url);
  const text = await (await fetch(`${url}/ows?service=WCS&version=2.0.1&request=GetCapabilities`)).text();
  const id = [...text.matchAll(/<wcs:CoverageId>([^<]+)</g)]
    .map(([, name]) => name ?? "")
    .find((name) => name.startsWith(`${collection}__`) && name.includes("0820"));
  assert.ok(id !== undefined, text.slice(0, 2000));
  return id;
}

test("GDAL reads the same pixels by WCS 2.0, 1.1 and 1.0 as from the file", { skip: gdalSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const coverage = await findItem(url);
  const checksum = async (source: string) => {
    const { stdout, stderr, status } = await run("gdalinfo", [
      "--config",
      "GDAL_HTTP_TIMEOUT",
      "30",
      "-checksum",
      source,
    ]);
    assert.equal(status, 0, stderr);
    return /Checksum=(\d+)/.exec(stdout)?.[1] ?? stdout;
  };
  const window = ["-q", "-b", "1", "-projwin"];
  const file = join(folder, "maribor-0820/B04.tif");
  const { stdout } = await run("gdalinfo", ["-json", file]);
  const { cornerCoordinates } = JSON.parse(stdout) as { cornerCoordinates: { upperLeft: [number, number] } };
  const [left, top] = cornerCoordinates.upperLeft;
  const corners = [left + 1000, top - 1000, left + 2000, top - 2000].map(String);
  const expected = join(folder, "expected.tif");
  assert.equal((await run("gdal_translate", [...window, ...corners, file, expected])).status, 0);
  const wanted = await checksum(expected);
  const from20 = await fetch(
    `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageId=${coverage}&format=image/tiff&rangesubset=red&subset=E(${left + 1000},${left + 2000})&subset=N(${top - 2000},${top - 1000})`,
  );
  const out = join(folder, "part.tif");
  writeFileSync(out, Buffer.from(await from20.arrayBuffer()));
  assert.equal(await checksum(out), wanted, "GetCoverage 2.0.1");
  for (const version of ["2.0.1", "1.1.1", "1.0.0"]) {
    const target = join(folder, `wcs-${version}.tif`);
    // GDAL keeps documents of addresses that it has seen.
    const cache = ["-oo", `CACHE=${mkdtempSync(join(folder, "cache-"))}`];
    const source = `WCS:${url}/ows?version=${version}&coverage=${coverage}`;
    const translated = await run("gdal_translate", [...cache, ...window, ...corners, source, target]);
    assert.equal(translated.status, 0, `${version}: ${translated.stderr}`);
    assert.equal(await checksum(target), wanted, version);
  }
  // A mosaic is in degrees, whose axes are the other way round in 1.1 and 2.0: its newest item is on top.
  const collection = await findCollection(url);
  const sums: string[] = [];
  for (const version of ["2.0.1", "1.1.1", "1.0.0"]) {
    const target = join(folder, `mosaic-${version}.tif`);
    const cache = ["-oo", `CACHE=${mkdtempSync(join(folder, "cache-"))}`];
    const source = `WCS:${url}/ows?version=${version}&coverage=${collection}`;
    const degrees = ["15.2", "46.35", "15.25", "46.3"];
    const translated = await run("gdal_translate", [...cache, ...window, ...degrees, source, target]);
    assert.equal(translated.status, 0, `${version}: ${translated.stderr}`);
    sums.push(await checksum(target));
  }
  assert.notEqual(sums[0], "0");
  assert.deepEqual(new Set(sums).size, 1, sums.join());
});

test("a gap of a coverage has no data, and what is outside is told from it", { skip: gdalSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const collection = await findCollection(url);
  // As QGIS tries a coverage: some pixels in its middle, where this mosaic has no scene.
  const get = (bbox: string) =>
    fetch(
      `${url}/ows?service=WCS&version=1.0.0&request=GetCoverage&coverage=${collection}&format=image/tiff&crs=EPSG:4326&bbox=${bbox}&width=6&height=3`,
    );
  const gap = await get("10.4,48.7,10.41,48.71");
  assert.equal(gap.status, 200);
  const file = join(folder, "gap.tif");
  writeFileSync(file, Buffer.from(await gap.arrayBuffer()));
  const { stdout } = await run("gdalinfo", ["-json", "-stats", file]);
  const { bands } = JSON.parse(stdout) as { bands: { metadata?: Record<string, Record<string, string>> }[] };
  assert.ok(bands.length > 0);
  for (const { metadata } of bands) {
    assert.equal(metadata?.[""]?.["STATISTICS_VALID_PERCENT"] ?? "0", "0");
  }
  const outside = await get("-100,-50,-99,-49");
  assert.equal(outside.status, 404);
  assert.match(await outside.text(), /outside of the coverage, which is in [\d.]+,/);
});

test("OWSLib reads capabilities, descriptions and coverages", { skip: owslibSkipReason }, async (t) => {
  const { url, folder } = await start(t);
  const coverage = await findItem(url);
  const script = join(folder, "client.py");
  writeFileSync(
    script,
    `
import sys
from owslib.wcs import WebCoverageService
url, coverage = sys.argv[1:]
wcs = WebCoverageService(url + "/ows", version="2.0.1")
assert coverage in wcs.contents, list(wcs.contents)
described = wcs.contents[coverage]
assert described.grid.axislabels == ["E", "N"], described.grid.axislabels
assert len(described.grid.highlimits) == 2
answer = wcs.getCoverage(identifier=[coverage], format="image/tiff", subsets=[("Lat", 46.3, 46.32), ("Long", 15.2, 15.22)], SCALEFACTOR="0.5")
assert answer.read()[:2] == b"II"
old = WebCoverageService(url + "/ows", version="1.0.0")
assert coverage in old.contents
answer = old.getCoverage(identifier=coverage, bbox=(15.2, 46.3, 15.22, 46.32), crs="EPSG:4326", format="GeoTIFF", width=30, height=30)
assert answer.read()[:2] == b"II"
print("ok")
`,
  );
  const { stdout, stderr } = await run("/usr/bin/python3", [script, url, coverage]);
  assert.equal(stdout.trim(), "ok", stderr);
});

test("WCS 2.0.1 by XML, EO-WCS, and mistakes in the protocol's own form", async (t) => {
  const { url, folder } = await start(t);
  const coverage = await findItem(url);
  const post = async (body: string) => {
    const response = await fetch(`${url}/ows`, { method: "POST", headers: { "content-type": "text/xml" }, body });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const namespaces = `xmlns:wcs="http://www.opengis.net/wcs/2.0" xmlns:rsub="http://www.opengis.net/wcs/range-subsetting/1.0" xmlns:scal="http://www.opengis.net/wcs/scaling/1.0" service="WCS" version="2.0.1"`;
  const got = await post(
    `<?xml version="1.0"?><wcs:GetCoverage ${namespaces}><wcs:Extension><scal:ScaleByFactor><scal:scaleFactor>0.5</scal:scaleFactor></scal:ScaleByFactor><rsub:RangeSubset><rsub:RangeItem><rsub:RangeComponent>nir</rsub:RangeComponent></rsub:RangeItem></rsub:RangeSubset></wcs:Extension><wcs:CoverageId>${coverage}</wcs:CoverageId><wcs:DimensionTrim><wcs:Dimension>Lat</wcs:Dimension><wcs:TrimLow>46.3</wcs:TrimLow><wcs:TrimHigh>46.32</wcs:TrimHigh></wcs:DimensionTrim></wcs:GetCoverage>`,
  );
  const kvp = await fetch(
    `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageid=${coverage}&subset=Lat(46.3,46.32)&scalefactor=0.5&rangesubset=nir`,
  );
  assert.equal(got.status, 200, got.bytes.toString("utf8", 0, 400));
  assert.deepEqual(got.bytes, Buffer.from(await kvp.arrayBuffer()));
  const bomb = await post(`<!DOCTYPE x [<!ENTITY a "b">]><wcs:GetCapabilities ${namespaces}/>`);
  assert.equal(bomb.status, 400);
  assert.equal((await post("<")).status, 400);
  const [collection = ""] = coverage.split("__");
  const set = await (
    await fetch(
      `${url}/ows?service=WCS&version=2.0.1&request=DescribeEOCoverageSet&eoid=${collection}&subset=phenomenonTime("2023-08-20","2023-08-21")`,
    )
  ).text();
  assert.deepEqual(
    [...set.matchAll(/<wcs:CoverageId>([^<]+)</g)].map(([, id]) => id),
    [collection, coverage],
    "the mosaic of that time, and its scene",
  );
  assert.match(set, /<wcseo:DatasetSeriesId>/);
  const packed = await fetch(
    `${url}/ows?service=WCS&version=2.0.1&request=GetEOCoverageSet&eoid=${collection}&subset=Lat(46.3,46.32)&subset=Long(15.2,15.22)&rangesubset=red&packageformat=application/zip`,
  );
  assert.equal(packed.headers.get("content-type"), "application/zip");
  const archive = join(folder, "set.zip");
  writeFileSync(archive, Buffer.from(await packed.arrayBuffer()));
  if (gdalSkipReason === false) {
    const name = `/vsizip/${archive}/${coverage}.tif`;
    const { stdout, stderr } = await run("gdalinfo", ["-json", name]);
    const { bands } = JSON.parse(stdout || "{}") as { bands?: unknown[] };
    assert.equal(bands?.length, 1, stderr);
  }
  const fault = async (more: string) => {
    const response = await fetch(`${url}/ows?service=WCS&version=2.0.1&${more}`);
    return `${response.status} ${/exceptionCode="(\w[\w-]*)"/.exec(await response.text())?.[1] ?? ""}`;
  };
  const get = `request=GetCoverage&coverageid=${coverage}`;
  assert.equal(await fault("request=GetCoverage"), "400 MissingParameterValue");
  assert.equal(await fault("request=GetCoverage&coverageid=none"), "404 NoSuchCoverage");
  assert.equal(await fault(`${get}&subset=depth(1,2)`), "404 InvalidAxisLabel");
  assert.equal(await fault(`${get}&subset=E(5,1)`), "404 InvalidSubsetting");
  assert.equal(await fault(`${get}&rangesubset=blue`), "404 NoSuchField");
  assert.equal(await fault(`${get}&outputcrs=EPSG:1`), "404 OutputCrs-NotSupported");
  assert.equal(await fault(`${get}&scalefactor=-1`), "404 InvalidScaleFactor");
  assert.equal(await fault(`${get}&interpolation=magic`), "404 InterpolationMethodNotSupported");
  assert.equal(await fault("request=DescribeEOCoverageSet&eoid=none"), "404 NoSuchDatasetSeriesOrCoverage");
  const set404 = `request=GetEOCoverageSet&eoid=${collection}`;
  assert.equal(await fault(`${set404}&subset=phenomenonTime("1990-01-01")`), "404 NoSuchDatasetSeriesOrCoverage");
  assert.equal(await fault(`${set404}&packageformat=application/rar`), "400 InvalidParameterValue");
  assert.equal(await fault("request=Fly"), "501 OperationNotSupported");
});
