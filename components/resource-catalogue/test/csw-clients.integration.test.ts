import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const run = promisify(execFile);
const PYTHON = "/usr/bin/python3";

const catalogue = await startCatalogue();
const { request, url } = catalogue;

after(() => catalogue.close());

await request("POST", "/stac/collections", { body: makeCollection("scenes") });
await request("POST", "/stac/collections/scenes/items", {
  body: { type: "FeatureCollection", features: Array.from({ length: 20 }, (_, index) => makeItem(`scene-${index}`)) },
});

test("OWSLib finds, pages, reads ISO and writes by CSW 2.0.2 and 3.0", async (t) => {
  if (!existsSync("/usr/lib/python3/dist-packages/owslib")) {
    t.skip("needs Debian's package python3-owslib");
    return;
  }
  const { stdout } = await run(PYTHON, [join(import.meta.dirname, "csw-clients.py"), `${url}/csw`], {
    timeout: 60_000,
  });
  const seen = JSON.parse(stdout) as Record<string, unknown>;
  const operations = [
    "GetCapabilities",
    "DescribeRecord",
    "GetDomain",
    "GetRecords",
    "GetRecordById",
    "GetRepositoryItem",
    "Transaction",
    "Harvest",
  ];
  const gmd = "http://www.isotc211.org/2005/gmd";
  assert.deepEqual(seen, {
    csw2: {
      version: "2.0.2",
      type: "CSW",
      operations,
      schemas: ["http://www.opengis.net/cat/csw/2.0.2", gmd, "http://www.w3.org/2005/Atom"],
    },
    domain: ["hits", "results", "validate"],
    types: ["collection", "dataset"],
    metasearch: { matches: 21, returned: 5, next: 6, bbox: ["10", "45", "11", "46"], crs: 4326 },
    "title brief": ["scene-3"],
    "title summary": ["scene-3"],
    "title full": ["scene-3"],
    cql: 11,
    sorted: ["scene-2", "scene-1"],
    iso: {
      identifier: "scene-3",
      title: "scene-3",
      west: "10",
      begin: "2024-06-01T10:00:00Z",
      hierarchy: "dataset",
      online: ["s3://bucket/data.tif"],
    },
    byid: ["scene-3", "scene-4"],
    exception: "ExceptionReport",
    insert: [1, ["owslib-1"]],
    update: 1,
    updated: "Changed",
    delete: 1,
    csw3: { version: "3.0.0", operations: operations.filter((name) => name !== "DescribeRecord"), filters: "TRUE" },
    types3: ["collection", "dataset"],
    like3: [11, 3, 4],
    box3: [21, 4326],
    cql3: ["scene-7"],
    iso3: ["scene-3"],
  });
});

test("GDAL's CSW driver lists, filters and reads records", async (t) => {
  if (!existsSync("/usr/bin/ogrinfo")) {
    t.skip("needs Debian's package gdal-bin");
    return;
  }
  const ogrinfo = async (...options: readonly string[]): Promise<string> =>
    (
      await run("/usr/bin/ogrinfo", ["-ro", ...options], {
        timeout: 60_000,
        env: { ...process.env, GDAL_HTTP_PROXY: "" },
      })
    ).stdout;
  const source = `CSW:${url}/csw`;
  const all = await ogrinfo("-al", "-so", source, "-oo", "ELEMENTSETNAME=full");
  assert.match(all, /Feature Count: 21/);
  const one = await ogrinfo(
    "-al",
    source,
    "-where",
    "identifier = 'scene-4' and type = 'dataset'",
    "-oo",
    "ELEMENTSETNAME=full",
  );
  assert.match(one, /identifier \(String\) = scene-4/);
  assert.match(one, /POLYGON \(\(10 45,10 46,11 46,11 45,10 45\)\)/);
  const bbox = await ogrinfo("-al", "-so", source, "-spat", "-50", "-50", "-40", "-40");
  assert.match(bbox, /Feature Count: 1/);
  const iso = await ogrinfo("-al", source, "-where", "identifier = 'scene-4'", "-oo", "OUTPUT_SCHEMA=gmd");
  assert.match(iso, /raw_xml \(String\) = <gmd:MD_Metadata/);
});
