import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { skipWithout } from "@swath/testing";

import { findCollection, getJson, run, start } from "./fixture.ts";

const AREA = "subset=Lat(46.3,46.302)&subset=Long(15.2,15.203)&rangesubset=red,nir";

async function findScene(url: string): Promise<string> {
  const text = await (await fetch(`${url}/ows?service=WCS&version=2.0.1&request=GetCapabilities`)).text();
  const id = /<wcs:CoverageId>([^<]*0820[^<]*)</.exec(text)?.[1];
  assert.ok(id !== undefined, text.slice(0, 1000));
  return id;
}

test("GetCoverage as GML has the values of the GeoTIFF, and its grid", { skip: skipWithout("gdalinfo") }, async (t) => {
  const { url, folder } = await start(t);
  const scene = await findScene(url);
  const get = `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageid=${scene}&${AREA}`;
  const gml = await fetch(`${get}&format=application/gml%2Bxml`);
  assert.equal(gml.headers.get("content-type"), "application/gml+xml");
  const text = await gml.text();
  assert.match(text, /<wcseo:RectifiedDataset /);
  const tuples = (/<gml:doubleOrNilReasonTupleList>([^<]*)</.exec(text)?.[1] ?? "").split(" ");
  const file = join(folder, "part.tif");
  writeFileSync(file, Buffer.from(await (await fetch(`${get}&format=image/tiff`)).arrayBuffer()));
  const { stdout } = await run("gdalinfo", ["-json", file]);
  const { size, bands } = JSON.parse(stdout) as {
    size: [number, number];
    bands: { type: string; description: string }[];
  };
  const [, high] = /<gml:high>([\d ]+)</.exec(text) ?? [];
  assert.equal(high, `${size[0] - 1} ${size[1] - 1}`);
  assert.deepEqual(
    bands.map(({ type, description }) => [type, description !== ""]),
    [
      ["UInt16", true],
      ["UInt16", true],
    ],
  );
  const xyz = join(folder, "part.xyz");
  const columns: string[][] = [];
  for (const band of ["1", "2"]) {
    assert.equal((await run("gdal_translate", ["-q", "-of", "XYZ", "-b", band, file, xyz])).status, 0);
    const { stdout: lines } = await run("cut", ["-d ", "-f3", xyz]);
    columns.push(lines.trim().split("\n"));
  }
  const expected = columns[0]!.flatMap((value, at) => [value, columns[1]![at]!]);
  assert.deepEqual(tuples, expected);
  assert.match(text, /<swe:field name="red"><swe:Quantity>.*<swe:interval>0 65535<\/swe:interval>/);
  const whole = await fetch(`${get.replace(AREA, "scalefactor=4")}&format=application/gml%2Bxml`);
  assert.equal(whole.status, 404);
  assert.match(await whole.text(), /InvalidSubsetting.*written as text/s);
});

test("a mosaic as GML names its scenes", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const text = await (
    await fetch(
      `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageid=${collection}&${AREA}&format=application/gml+xml`,
    )
  ).text();
  assert.match(text, /<wcseo:RectifiedStitchedMosaic .*<wcseo:dataset><wcs:CoverageId>[^<]*0820/s);
});

test("GetCoverage as multipart/related is GML that refers to the GeoTIFF behind it", async (t) => {
  const { url } = await start(t);
  const scene = await findScene(url);
  const get = `${url}/ows?service=WCS&version=2.0.1&request=GetCoverage&coverageid=${scene}&${AREA}`;
  const response = await fetch(`${get}&mediatype=multipart/related`);
  const [, boundary = ""] = /boundary=(\S+)$/.exec(response.headers.get("content-type") ?? "") ?? [];
  const [before = "", gml = "", tiff = "", end = ""] = Buffer.from(await response.arrayBuffer())
    .toString("latin1")
    .split(`--${boundary}`);
  assert.equal(before, "");
  assert.equal(end, "--\r\n");
  const [, id = "none"] = /<gml:fileReference>cid:([^<]+)</.exec(gml) ?? [];
  assert.ok(tiff.includes(`Content-ID: <${id}>`), tiff.slice(0, 300));
  const body = tiff.slice(tiff.indexOf("\r\n\r\n") + 4, -2);
  const alone = Buffer.from(await (await fetch(get)).arrayBuffer()).toString("latin1");
  assert.equal(body, alone);
  const faults = ["mediatype=text/plain", "mediatype=multipart/related&format=image/png"];
  for (const fault of faults) {
    assert.equal((await fetch(`${get}&${fault}`)).status, 400, fault);
  }
});

test("DescribeEOCoverageSet keeps to sections, containment and count", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const describe = async (more: string) => {
    const response = await fetch(
      `${url}/ows?service=WCS&version=2.0.1&request=DescribeEOCoverageSet&eoid=${collection}${more}`,
    );
    const text = await response.text();
    const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
    return {
      status: response.status,
      coverages: count(/<wcs:CoverageDescription /g),
      series: count(/<wcseo:DatasetSeriesDescription /g),
      returned: Number(/numberReturned="(\d+)"/.exec(text)?.[1]),
    };
  };
  const { extent } = (await getJson(`${url}/collections/${collection}`)) as unknown as {
    extent: { spatial: { bbox: [number, number, number, number][] } };
  };
  const [west, south, east, north] = extent.spatial.bbox[0]!;
  const all = await describe("");
  assert.equal(all.series, 1);
  assert.ok(all.coverages > 2, "the mosaic, and its scenes");
  assert.equal(all.returned, all.coverages + 1);
  assert.deepEqual(await describe(`&eoid=${collection}&sections=DatasetSeriesDescriptions`), {
    status: 200,
    coverages: 0,
    series: 1,
    returned: 1,
  });
  assert.equal((await describe("&sections=CoverageDescriptions")).series, 0);
  assert.deepEqual(await describe("&count=1"), { status: 200, coverages: 1, series: 0, returned: 1 });
  const area = `&subset=Lat(${south},${(south + north) / 2})&subset=Long(${west},${east})`;
  const [overlapping, contained] = [await describe(area), await describe(`${area}&containment=contains`)];
  assert.ok(contained.coverages < overlapping.coverages, "the mosaic is not wholly in half of its area");
  assert.equal((await describe("&containment=beside")).status, 400);
  assert.equal((await describe("&sections=Bogus")).status, 400);
});

test("WMTS capabilities have the sections that are asked for", async (t) => {
  const { url } = await start(t);
  const get = async (sections: string) => {
    const response = await fetch(`${url}/ows?service=WMTS&request=GetCapabilities&sections=${sections}`);
    return { status: response.status, text: await response.text() };
  };
  const contents = await get("Contents,ServiceProvider");
  assert.match(contents.text, /<ows:ServiceProvider>.*<Contents>.*<LegendURL /s);
  assert.doesNotMatch(contents.text, /<ows:ServiceIdentification>|<ows:OperationsMetadata>/);
  assert.match((await get("All")).text, /<ows:OperationsMetadata>/);
  const typed = async (types: string) =>
    (await fetch(`${url}/ows?service=WMTS&request=GetCapabilities&acceptformats=${types}`)).headers.get("content-type");
  assert.equal(await typed("a/b,text/xml"), "text/xml; charset=utf-8");
  assert.equal(await typed("a/b"), "application/xml; charset=utf-8");
  assert.equal((await get("")).status, 400);
  assert.equal((await get("Bogus")).status, 400);
});
