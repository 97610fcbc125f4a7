import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { BUCKET, example, makeCollection, makeItem, startDocuments, startFixture } from "./fixture.ts";

const fixture = await startFixture();
after(fixture.close);
const { send, register, callCatalogue, put, sendInternally, settle } = fixture;

test("a request is accepted with the known message and can be followed", async () => {
  await put(
    "one/catalog.json",
    JSON.stringify({
      type: "Catalog",
      stac_version: "1.0.0",
      id: "one",
      description: "one",
      links: [{ rel: "child", href: "./land/collection.json" }],
    }),
  );
  await put(
    "one/land/collection.json",
    JSON.stringify(
      makeCollection("land", {
        links: [
          { rel: "root", href: "../catalog.json" },
          { rel: "item", href: "./a.json" },
          { rel: "item", href: "./b.json" },
        ],
      }),
    ),
  );
  await put("one/land/a.json", JSON.stringify(makeItem("a", { collection: "land" })));
  await put("one/land/b.json", JSON.stringify(makeItem("b", { collection: "land" })));
  const url = `s3://${BUCKET}/one/`;
  const accepted = await send("POST", "/register", { type: "STAC-Item", url });
  assert.equal(accepted.status, 202);
  assert.deepEqual(accepted.body, { message: `STAC Catalog '${url}catalog.json' was accepted for harvesting` });
  const done = await fixture.settle(accepted.headers.get("location") ?? "");
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  assert.deepEqual(
    [done.body.result.registered, done.body.result.failed, done.body.request.url],
    [3, 0, `${url}catalog.json`],
  );
  const { body: item } = await callCatalogue("/stac/collections/land/items/a");
  assert.equal(item.assets.data.href, `s3://${BUCKET}/one/land/data.tif`);
  assert.equal((await callCatalogue("/stac/collections/land")).body.description, "Scenes of land");

  const again = await register("/register", { type: "stac-item", url });
  assert.deepEqual([again.body.result.registered, again.body.result.unchanged], [0, 3]);

  const removed = await send("POST", "/deregister", { type: "stac-item", url: `${url}catalog.json` });
  assert.equal(removed.status, 200);
  assert.equal(removed.body.message, `Item '{'url': '${url}catalog.json'}' was successfully de-registered`);
  assert.equal((await callCatalogue("/stac/collections/land")).status, 404);
});

test("what nobody can register is refused at once, and what is wrong is said", async () => {
  const unknown = await send("POST", "/register", { type: "shapefile", url: "http://example.org/x.shp" });
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.detail, /"shapefile" cannot be registered; allowed: stac-item/);
  const missing = await send("POST", "/register", { type: "stac-item" });
  assert.equal(missing.status, 422);
  assert.deepEqual(missing.body.detail[0].loc, ["body", "url"]);
  assert.equal((await send("POST", "/deregister", { type: "stac-item" })).status, 422);
  assert.equal((await send("GET", "/probe")).status, 200);
  assert.equal((await send("GET", "/docs")).status, 200);
});

test("documents: an item, a collection, a record; then one of them by its id out again", async () => {
  const collection = await register("/register-collection", makeCollection("mine"));
  assert.equal(collection.body.state, "done", JSON.stringify(collection.body));
  const item = await register(
    "/register-json",
    makeItem("i1", { collection: "mine", assets: { d: { href: "s3://b/d.tif" } } }),
  );
  assert.equal(item.body.state, "done", JSON.stringify(item.body));
  const record = await register("/register-json", {
    type: "Feature",
    id: "note",
    geometry: null,
    properties: { type: "dataset", title: "A note" },
  });
  assert.equal(record.body.state, "done", JSON.stringify(record.body));
  assert.equal((await callCatalogue("/collections/metadata:main/items/note")).body.properties.title, "A note");
  assert.equal(
    (await send("POST", "/deregister", { identifier: "i1" })).body.message,
    "Item '{'identifier': 'i1'}' was successfully de-registered",
  );
  assert.equal((await callCatalogue("/stac/collections/mine/items/i1")).status, 404);
  const notACollection = await register("/register-collection", makeItem("x"));
  assert.equal(notACollection.body.state, "failed");
  assert.match(notACollection.body.reason, /its type must be Collection/);
});

test("polygons that cross themselves are repaired: of documents, and of what is harvested", async () => {
  const geometry = {
    type: "Polygon",
    coordinates: [
      [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ],
    ],
  };
  const item = { collection: "repaired", geometry, bbox: [0, 0, 1, 1], assets: {} };
  const sent = await register("/register-json", makeItem("tie-sent", item));
  assert.equal(sent.body.state, "done", JSON.stringify(sent.body));
  const record = await register("/register-json", {
    type: "Feature",
    id: "tie-record",
    geometry,
    properties: { type: "dataset", title: "A record" },
  });
  assert.equal(record.body.state, "done", JSON.stringify(record.body));
  await put("repaired/item.json", JSON.stringify(makeItem("tie-read", item)));
  const read = await register("/register", { type: "stac-item", url: `s3://${BUCKET}/repaired/item.json` });
  assert.equal(read.body.state, "done", JSON.stringify(read.body));
  for (const path of [
    "/stac/collections/repaired/items/tie-sent",
    "/stac/collections/repaired/items/tie-read",
    "/collections/metadata:main/items/tie-record",
  ]) {
    const { body } = await callCatalogue(path);
    assert.equal(body.geometry.type, "MultiPolygon", path);
    assert.equal(body.geometry.coordinates.length, 2);
  }
});

test("a granule of MODIS by its file, and a product of EOPF by its folder", async () => {
  const granule = "MOD09A1.A2022033.h19v10.061.2022042043514.hdf";
  const point = (longitude: number, latitude: number): string =>
    `<Point><PointLongitude>${longitude}</PointLongitude><PointLatitude>${latitude}</PointLatitude></Point>`;
  await put(`modis/${granule}`, "HDF");
  await put(
    `modis/${granule}.xml`,
    `<?xml version="1.0"?><!DOCTYPE GranuleMetaDataFile SYSTEM "http://example.org/a.dtd"><GranuleMetaDataFile><GranuleURMetaData>
<CollectionMetaData><ShortName>MOD09A1</ShortName><VersionID>61</VersionID></CollectionMetaData>
<DataFiles><DataFileContainer><DistributedFileName>${granule}</DistributedFileName></DataFileContainer></DataFiles>
<SingleDateTime><TimeofDay>10:00:00</TimeofDay><CalendarDate>2022-02-02</CalendarDate></SingleDateTime>
<Boundary>${point(10, -20)}${point(10, -10)}${point(20, -10)}</Boundary></GranuleURMetaData></GranuleMetaDataFile>`,
  );
  const store = "S2B_MSIL2A_20250101T101319_N0511_R022_T32TQM_20250101T123456.zarr";
  const geometry = {
    type: "Polygon",
    coordinates: [
      [
        [10, 45],
        [11, 45],
        [11, 46],
        [10, 45],
      ],
    ],
  };
  const discovery = { geometry, properties: { datetime: "2025-01-01T10:13:19Z", "product:type": "S02MSIL2A" } };
  await put(
    `eopf/${store}/.zmetadata`,
    JSON.stringify({
      metadata: {
        ".zattrs": { stac_discovery: discovery },
        "measurements/reflectance/r10m/b02/.zarray": { shape: [10, 10], dtype: "<u2" },
      },
    }),
  );
  for (const [url, item, asset] of [
    [`modis/${granule}`, `mod09a1-061/items/${granule.replace(".hdf", "")}`, "hdf"],
    [`eopf/${store}`, `sentinel-2-l2a-zarr/items/${store.replace(".zarr", "")}`, "reflectance_r10m"],
    [`eopf/${store}/`, `sentinel-2-l2a-zarr/items/${store.replace(".zarr", "")}`, "reflectance_r10m"],
  ] as const) {
    const { body } = await register("/register", { type: "stac-item", url: `s3://${BUCKET}/${url}` });
    assert.equal(body.state, "done", `${url}: ${JSON.stringify(body)}`);
    const found = await callCatalogue(`/stac/collections/${item}`);
    assert.equal(found.status, 200, item);
    assert.ok(asset in found.body.assets, JSON.stringify(found.body.assets));
  }
});

test("a plain GeoTIFF becomes an item with footprint, bands and statistics", async () => {
  await put("plain/S2_20190411T105029_B04.tif", example("scenes/lommel/B04.tif"));
  const done = await register("/register", {
    type: "stac-item",
    url: `s3://${BUCKET}/plain/S2_20190411T105029_B04.tif`,
    parent_identifier: "plain",
  });
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  const { body: item } = await callCatalogue("/stac/collections/plain/items/S2_20190411T105029_B04");
  assert.equal(item.properties.datetime, "2019-04-11T10:50:29Z");
  assert.match(item.properties["proj:code"], /^EPSG:326/);
  const [band] = item.assets.data.bands;
  assert.equal(band.data_type, "uint16");
  assert.ok(band.statistics.maximum > band.statistics.minimum);
  const [west, south, east, north] = item.bbox;
  assert.ok(west > 5 && east < 6 && south > 51 && north < 52, item.bbox.join());
});

test("broken parts of a catalogue are named, and the others go on", async (t) => {
  const documents = await startDocuments((path) => {
    const links = [
      { rel: "item", href: "./good.json" },
      { rel: "item", href: "./missing.json" },
      { rel: "item", href: "./broken.json" },
      { rel: "item", href: "./wrong.json" },
      { rel: "child", href: "./catalog.json" },
    ];
    switch (path) {
      case "/catalog.json":
        return { type: "Catalog", stac_version: "1.0.0", id: "loop", description: "links to itself", links };
      case "/good.json":
        return makeItem("good");
      case "/broken.json":
        return "{ not json";
      case "/wrong.json":
        return makeItem("wrong", { properties: { datetime: "yesterday" } });
      default:
        return undefined;
    }
  });
  t.after(documents.close);
  const done = await register("/register", { type: "stac-catalog", url: `${documents.url}/catalog.json` });
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  assert.deepEqual([done.body.result.registered, done.body.result.failed], [1, 3]);
  const { body } = await send("GET", `/tasks/${done.body.id}/problems`);
  const reasons = new Map(
    body.problems.map((problem: { record: string; reason: string }) => [problem.record, problem.reason]),
  );
  assert.match(String(reasons.get(`${documents.url}/missing.json`)), /answered with status 404/);
  assert.match(String(reasons.get(`${documents.url}/broken.json`)), /not valid JSON/);
  assert.match(String(reasons.get("wrong")), /datetime/);
});

test("a workspace reads its own bucket only, and has collections of its own", async () => {
  await put("ws/item.json", JSON.stringify(makeItem("theirs", { collection: "mine" })));
  const send = (buckets: readonly string[]) =>
    sendInternally("POST", "/tasks", {
      scope: "ws-eric",
      requestedBy: "eric",
      buckets,
      request: { form: "register", type: "stac-item", url: `s3://${BUCKET}/ws/item.json` },
    });
  const refused = await send(["ws-eric"]);
  const failed = await fixture.settle(`${fixture.apiUrl}/tasks/${refused.body.id}`);
  assert.equal(failed.body.state, "failed");
  assert.match(failed.body.reason, /bucket "scenes" is not one that can be read here \(ws-eric\)/);
  const taken = await send(["ws-eric", BUCKET]);
  const done = await fixture.settle(`${fixture.apiUrl}/tasks/${taken.body.id}`);
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  // "mine" is the platform's: ids of collections are unique.
  const own = { "x-forwarded-host": "resource-catalogue.ws-eric.localhost" };
  assert.equal((await callCatalogue("/stac/collections/ws-eric.mine/items/theirs", own)).status, 200);
  assert.equal((await callCatalogue("/stac/collections/mine/items/theirs")).status, 404);
  const { body } = await sendInternally("GET", "/tasks?workspace=ws-eric");
  assert.equal(body.tasks.length, 2);
});

test("results of a job: links to what made them, items of plain rasters, and gone when their files go", async () => {
  const links = [{ rel: "via", href: "https://ades.example.org/eric/ogc-api/jobs/j1", type: "application/json" }];
  const base = `s3://${BUCKET}/processing-results/j1`;
  await put(
    "processing-results/j1/catalog.json",
    JSON.stringify({
      type: "Catalog",
      stac_version: "1.1.0",
      id: "results-j1",
      description: "Results",
      links: [{ rel: "child", href: `${base}/j1/collection.json` }],
    }),
  );
  await put(
    "processing-results/j1/j1/collection.json",
    JSON.stringify(makeCollection("j1", { assets: { "out.tif": { href: `${base}/j1/out_20240601.tif` } } })),
  );
  await put("processing-results/j1/j1/out_20240601.tif", example("scenes/lommel/B04.tif"));
  const accepted = await sendInternally("POST", "/tasks", {
    scope: "ws-eric",
    requestedBy: "eric",
    buckets: [BUCKET],
    wait: 30,
    provenance: { links },
    request: { form: "register", type: "stac-item", url: `${base}/catalog.json` },
  });
  assert.equal(accepted.body.state, "done", JSON.stringify(accepted.body));
  const own = { "x-forwarded-host": "resource-catalogue.ws-eric.localhost" };
  const { body: item } = await callCatalogue("/stac/collections/j1/items/out_20240601", own);
  assert.equal(item.links.find(({ rel }: { rel: string }) => rel === "via")?.href, links[0]?.href);
  const { body: collection } = await callCatalogue("/stac/collections/j1", own);
  assert.ok(collection.links.some(({ rel }: { rel: string }) => rel === "via"));
  await fixture.remove("processing-results/j1/catalog.json");
  await waitUntil("the removal", async () => (await callCatalogue("/stac/collections/j1", own)).status === 404);
  assert.equal((await callCatalogue("/stac/collections/j1/items/out_20240601", own)).status, 404);
});

test("requests of one user that take long, and harvests, hold no other user up", async (t) => {
  const held: (() => void)[] = [];
  const server = createServer((_request, response) => {
    held.push(() => response.writeHead(404).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const slow = await Promise.all(
    Array.from({ length: 6 }, (_, index) => send("POST", "/register", { type: "stac-item", url: `${url}/${index}` })),
  );
  await waitUntil("three documents that are asked for", () => held.length >= 3);
  const { status, body } = await sendInternally("POST", "/tasks", {
    scope: "other",
    requestedBy: "bob",
    buckets: [],
    wait: 20,
    request: { form: "json", document: makeItem("of-bob", { assets: {} }) },
  });
  assert.deepEqual([status, body.state], [202, "done"], JSON.stringify(body));
  assert.equal(held.length, 3);
  const release = setInterval(() => held.splice(0).forEach((end) => end()), 20);
  t.after(() => clearInterval(release));
  for (const { headers } of slow) {
    assert.equal((await settle(headers.get("location") ?? "")).body.state, "failed");
  }
});
