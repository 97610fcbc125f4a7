import assert from "node:assert/strict";
import { after, test } from "node:test";

import pg from "pg";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const base = "https://data-access.example.org";
const catalogue = await startCatalogue({ DATA_ACCESS_PUBLIC_URL: base });
const { request } = catalogue;
after(() => catalogue.close());

const cog = { href: "s3://bucket/data.tif", type: "image/tiff; application=geotiff" };
await request("POST", "/stac/collections", {
  body: makeCollection("scenes", { item_assets: { data: { type: cog.type, roles: ["data"] } } }),
});
await request("POST", "/stac/collections/scenes/items", { body: makeItem("raster", { assets: { data: cog } }) });
await request("POST", "/stac/collections/scenes/items", {
  body: makeItem("report", { assets: { data: { href: "https://example.org/a.pdf", type: "application/pdf" } } }),
});

const layer = `${base}/collections/scenes__raster`;
const expected: Readonly<Record<string, string>> = {
  preview: `${layer}/map.png?width=512`,
  tilejson: `${layer}/WebMercatorQuad/tilejson.json`,
  wms: `${base}/ows?service=WMS&request=GetCapabilities&layers=scenes__raster`,
  "http://www.opengis.net/def/rel/ogc/1.0/coverage": `${layer}/coverage`,
  wcs: `${base}/ows?service=WCS&version=2.0.1&request=DescribeCoverage&coverageId=scenes__raster`,
};
type Links = readonly { readonly rel: string; readonly href: string }[];
const viewsOf = (links: Links) =>
  Object.fromEntries(links.filter(({ href }) => href.startsWith(base)).map(({ rel, href }) => [rel, href]));

test("items with rasters say how they can be seen, in STAC and as records", async () => {
  for (const path of ["/stac/collections/scenes/items/raster", "/collections/scenes/items/raster"]) {
    assert.deepEqual(viewsOf((await request("GET", path)).body.links), expected, path);
  }
  for (const path of ["/stac/search?ids=raster", "/collections/scenes/items?ids=raster"]) {
    assert.deepEqual(viewsOf((await request("GET", path)).body.features[0].links), expected, path);
  }
  for (const path of ["/stac/collections/scenes", "/collections/scenes"]) {
    const { links } = (await request("GET", path)).body;
    assert.equal(viewsOf(links)["preview"], `${base}/collections/scenes/map.png?width=512`);
  }
  assert.deepEqual(viewsOf((await request("GET", "/stac/collections/scenes/items/report")).body.links), {});
});

test("links of a record that a client changes and sends back are not stored", async (t) => {
  const collection = "/stac/collections/scenes";
  const address = `${collection}/items/raster`;
  for (const path of [collection, address]) {
    await request("PUT", path, { body: (await request("GET", path)).body });
    const { links } = (await request("GET", path)).body as { links: Links };
    assert.equal(links.filter(({ href }) => href.startsWith(base)).length, Object.keys(expected).length);
  }
  const database = new pg.Client({ connectionString: catalogue.postgres.url });
  await database.connect();
  t.after(() => database.end());
  const { rows } = await database.query("select links from catalogue.record");
  assert.ok(!JSON.stringify(rows).includes(base), JSON.stringify(rows));
  await request("PUT", address, { body: makeItem("raster", { assets: { data: cog } }) });
});

test("records of CSW and entries of OpenSearch refer to WMS, WCS and a picture", async () => {
  const csw = await request(
    "GET",
    "/csw?service=CSW&version=2.0.2&request=GetRecordById&id=raster&elementSetName=full",
  );
  assert.match(csw.text, /<dct:references scheme="OGC:WMS">https:\/\/data-access\.example\.org\/ows\?service=WMS/);
  assert.match(csw.text, /<dct:references scheme="OGC:WCS">/);
  const iso = await request(
    "GET",
    "/csw?service=CSW&version=2.0.2&request=GetRecordById&id=raster&elementSetName=full&outputSchema=http://www.isotc211.org/2005/gmd",
  );
  assert.match(iso.text, /<gco:CharacterString>OGC:WMS<\/gco:CharacterString>/);
  const { features } = (await request("GET", "/opensearch/search?f=json&uid=raster")).body;
  assert.deepEqual(
    features[0].properties.links.previews.map(({ href }: { href: string }) => href),
    [expected["preview"]],
  );
});
