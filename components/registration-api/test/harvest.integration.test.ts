import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { BUCKET, example, makeItem, startDocuments, startFixture } from "./fixture.ts";

const fixture = await startFixture();
after(fixture.close);
const { send, register, callCatalogue, put, settle } = fixture;
const PRODUCTS = join(import.meta.dirname, "../../../libs/products/test/data");

/** A STAC API of `count` items in pages, of which some are broken. */
async function startStacApi(count: () => number, onPage: (page: number) => void = () => {}) {
  const PAGE = 250;
  return startDocuments((path) => {
    const url = new URL(path, "http://localhost");
    const page = Number(url.searchParams.get("page") ?? 0);
    onPage(page);
    const features = Array.from({ length: Math.max(0, Math.min(PAGE, count() - page * PAGE)) }, (_, index) => {
      const number = page * PAGE + index;
      return number % 100 === 99
        ? makeItem(`broken-${number}`, { properties: { datetime: 7, "eo:cloud_cover": 5 } })
        : makeItem(`item-${number}`, {
            collection: "harvested",
            properties: { datetime: "2024-06-01T10:00:00Z", "eo:cloud_cover": number % 100 },
          });
    });
    url.searchParams.set("page", String(page + 1));
    const links = (page + 1) * PAGE < count() ? [{ rel: "next", href: url.pathname + url.search }] : [];
    return { type: "FeatureCollection", features, links };
  });
}

async function countOf(collection: string): Promise<number> {
  const { body } = await callCatalogue(`/stac/search?collections=${collection}&limit=1`);
  return body.numberMatched;
}

test("a STAC API: pages, a filter, broken items named, deletions followed", async (t) => {
  let count = 1000;
  const api = await startStacApi(() => count);
  t.after(api.close);
  const config = {
    resource: { url: `${api.url}/stac`, type: "STACAPI", query: { time: { begin: "2024-01-01T00:00:00Z" } } },
    filter: { op: "<", args: [{ property: "eo:cloud_cover" }, 90] },
    deletions: true,
  };
  assert.equal((await send("PUT", "/harvesters/api", config)).status, 200);
  const first = await register("/harvesters/api/run", undefined);
  assert.equal(first.body.state, "done", JSON.stringify(first.body));
  // Of each hundred: 90 pass the filter, and one is broken.
  assert.deepEqual([first.body.result.registered, first.body.result.failed], [900, 10]);
  assert.equal(await countOf("harvested"), 900);
  const again = await register("/harvesters/api/run", undefined);
  assert.deepEqual([again.body.result.registered, again.body.result.unchanged, again.body.result.removed], [0, 900, 0]);
  count = 500;
  const fewer = await register("/harvesters/api/run", undefined);
  assert.equal(fewer.body.result.removed, 450, JSON.stringify(fewer.body));
  assert.equal(await countOf("harvested"), 450);
});

test("a worker that is killed amid a harvest: another goes on from the page where it was, nothing is lost or doubled", async (t) => {
  let isKilled = false;
  const response: number[] = [];
  const api = await startStacApi(
    () => 5000,
    (page) => {
      response.push(page);
      if (page === 8 && !isKilled) {
        isKilled = true;
        void fixture.kill("worker").then(() => fixture.start("worker"));
      }
    },
  );
  t.after(api.close);
  await send("PUT", "/harvesters/killed", {
    resource: { url: `${api.url}/search`, type: "STACAPI" },
    collection: "killed",
  });
  const { headers } = await send("POST", "/harvesters/killed/run");
  await waitUntil("the kill", () => isKilled);
  // The lease of the dead worker ends now rather than in a minute.
  await waitUntil("the lease", async () => {
    const { rowCount } = await fixture.query(
      "update registration.task set lease_until = now() where state = 'running' and kind = 'harvest'",
    );
    return rowCount > 0 || response.filter((page) => page === 0).length > 1;
  });
  const done = await settle(headers.get("location") ?? "");
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  assert.equal(await countOf("killed"), 4950);
  assert.ok(response.filter((page) => page <= 2).length <= 6, "it began at the beginning again");
});

test("a configuration file of the known form: OpenSearch, products read from storage", async (t) => {
  const name = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
  for (const path of readdirSync(join(PRODUCTS, name), { recursive: true, encoding: "utf8" }).filter((each) =>
    each.endsWith(".xml"),
  )) {
    await put(`Sentinel-2/${name}/${path}`, readFileSync(join(PRODUCTS, name, path)));
  }
  const server = await startDocuments((path) => {
    if (path.startsWith("/describe.xml")) {
      return `<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
        <Url type="application/json" template="/search.json?maxRecords={count?}&amp;index={startIndex?}&amp;startDate={time:start?}&amp;completionDate={time:end?}&amp;box={geo:box?}"/>
        </OpenSearchDescription>`;
    }
    const { searchParams } = new URL(path, "http://localhost");
    assert.deepEqual(
      [searchParams.get("startDate"), searchParams.get("box")],
      ["2022-08-30T00:00:00.000Z", "14.9,47.7,16.4,48.7"],
    );
    return {
      type: "FeatureCollection",
      properties: { links: [] },
      features: [
        {
          type: "Feature",
          id: "u-1",
          geometry: { type: "Point", coordinates: [15, 48] },
          properties: {
            startDate: "2023-06-25T23:46:21Z",
            completionDate: "2023-06-25T23:46:21Z",
            productIdentifier: `/${BUCKET}/Sentinel-2/${name}`,
          },
        },
        {
          type: "Feature",
          id: "u-2",
          geometry: { type: "Point", coordinates: [15, 48] },
          properties: {
            startDate: "2023-06-25T23:46:21Z",
            completionDate: "2023-06-25T23:46:21Z",
            productIdentifier: `/${BUCKET}/Sentinel-2/S2A_MSIL2A_missing.SAFE`,
          },
        },
      ],
    };
  });
  t.after(server.close);
  const config = `- name: Custom-Config
  resource:
    url: ${server.url}/describe.xml
    type: OpenSearch
    query:
      bbox: 14.9,47.7,16.4,48.7
      collection: null
      time:
        begin: "2022-08-30T00:00:00Z"
        end: "2022-08-31T00:00:00Z"
        property: sensed
    format_config:
      property_mapping:
        end_datetime: completionDate
        productIdentifier: productIdentifier
        start_datetime: startDate
      type: application/json
  postprocess:
    - type: harvester_eoepca.postprocess.CREODIASOpenSearchSentinel2Postprocessor
  queue: register
  filter: {}`;
  const done = await register("/harvest", { config, name: "Custom-Config" });
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  assert.deepEqual([done.body.result.registered, done.body.result.failed], [1, 1]);
  const { body: item } = await callCatalogue(`/stac/collections/sentinel-2-l2a/items/${name.replace(".SAFE", "")}`);
  assert.equal(item.properties["eo:cloud_cover"], 15.047897);
  assert.equal(item.assets.product_metadata.href, `s3://${BUCKET}/Sentinel-2/${name}/MTD_MSIL2A.xml`);
  const { body } = await send("GET", `/tasks/${done.body.id}/problems`);
  assert.match(body.problems[0].reason, /MTD_MSIL2A\.xml cannot be read/);
});

test("a watched bucket tells of what is put there and taken away; a product is whole when its last file is there", async () => {
  await put("inbox/early_20240101.tif", example("scenes/lommel/B04.tif"));
  await send("PUT", "/harvesters/watch", {
    resource: { url: `s3://${BUCKET}/inbox/`, type: "Bucket" },
    collection: "inbox",
  });
  const lastRun = async (): Promise<{ id: string; state: string } | null> =>
    (await send("GET", "/harvesters")).body.harvesters.find(({ name }: { name: string }) => name === "watch").last_run;
  await waitUntil("the first run", async () => (await lastRun())?.state === "done");
  const run = await lastRun();
  const exists = async (id: string): Promise<boolean> =>
    (await callCatalogue(`/stac/collections/inbox/items/${id}`)).status === 200;
  await waitUntil("what was there before", () => exists("early_20240101"));
  await put("inbox/a scene+20240102.tif", example("scenes/lommel/B04.tif"));
  await put("inbox/notes.txt", "nothing");
  await put("inbox/stac/item.json", JSON.stringify(makeItem("from-bucket")));
  await waitUntil("the scene", () => exists("a scene+20240102"));
  await waitUntil("the item", () => exists("from-bucket"));
  const name = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
  const files = readdirSync(join(PRODUCTS, name), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".xml"),
  );
  for (const path of files.toSorted((a, b) => a.length - b.length)) {
    await put(`inbox/${name}/${path}`, readFileSync(join(PRODUCTS, name, path)));
  }
  await waitUntil("the product", () => exists(name.replace(".SAFE", "")));
  await fixture.remove("inbox/a scene+20240102.tif");
  await waitUntil("its removal", async () => !(await exists("a scene+20240102")));
  // All of it was told: nobody looked through the bucket again.
  assert.equal((await lastRun())?.id, run?.id);
  assert.equal((await send("DELETE", "/harvesters/watch")).status, 204);
});

test("events that are told twice change nothing, and only who knows the secret may tell them", async () => {
  const records = [
    { eventName: "ObjectCreated:Put", s3: { bucket: { name: "nobodys" }, object: { key: "a+b.tif", eTag: "1" } } },
  ];
  const before = (await send("GET", "/tasks?limit=1")).body.tasks[0].id;
  for (let twice = 0; twice < 2; twice += 1) {
    assert.equal((await fixture.sendInternally("POST", "/events", { Records: records })).status, 204);
  }
  assert.equal((await fixture.sendInternally("POST", "/events", { Event: "s3:TestEvent" })).status, 204);
  assert.equal((await send("GET", "/tasks?limit=1")).body.tasks[0].id, before);
  assert.equal((await send("POST", "/events", { Records: records })).status, 404);
});

test("100,000 broken items among good ones: each is counted, the first are named, the good ones are there", async (t) => {
  const PAGES = 100;
  const api = await startDocuments((path) => {
    const at = Number(new URL(path, "http://localhost").searchParams.get("page") ?? 0);
    const broken = Array.from({ length: 1000 }, (_, index) => ({ type: "Feature", id: `broken-${at}-${index}` }));
    const good = Array.from({ length: 5 }, (_, index) =>
      makeItem(`good-${at}-${index}`, { collection: "among", assets: {} }),
    );
    const links = at + 1 < PAGES ? [{ rel: "next", href: `/search?page=${at + 1}` }] : [];
    return { type: "FeatureCollection", features: [...broken, ...good], links };
  });
  t.after(api.close);
  const done = await harvest("broken", { url: `${api.url}/search`, type: "STACAPI" });
  assert.deepEqual(
    [done.body.state, done.body.result.registered, done.body.result.failed],
    ["done", 5 * PAGES, 1000 * PAGES],
    JSON.stringify(done.body),
  );
  assert.equal(await countOf("among"), 5 * PAGES);
  const { body } = await send("GET", `/tasks/${done.body.id}/problems`);
  assert.equal(body.problems.length, 1000);
  assert.deepEqual(body.problems[0].record, "broken-0-0");
});

test("catalogues of other kinds: CSW in ISO and Dublin Core, OGC API Records, an archive of folders", async (t) => {
  const { catalogueUrl } = fixture;
  const geometry = { type: "Point", coordinates: [100, 0] };
  const note = { type: "Feature", id: "a-note", geometry, properties: { type: "dataset", title: "A note" } };
  await register("/register-json", note);
  const source = { url: `${catalogueUrl}/csw`, type: "CSW", query: { bbox: [99, -1, 101, 1] } };
  const csw = await harvest("csw", source);
  const { registered, unchanged, failed } = csw.body.result;
  assert.deepEqual([csw.body.state, registered + unchanged, failed], ["done", 1, 0], JSON.stringify(csw.body));

  // A time that the note does not have, and one of which nothing changed since.
  const time = { begin: "2024-01-01T00:00:00Z", end: "2024-02-01T00:00:00Z" };
  const none = await harvest("csw-time", { ...source, query: { ...source.query, time } });
  assert.deepEqual(
    [none.body.state, none.body.result.registered + none.body.result.unchanged],
    ["done", 0],
    JSON.stringify(none.body),
  );
  const twice = { incremental: "apiso:Modified" };
  const all = await harvest("csw-changes", source, twice);
  assert.equal(all.body.result.registered + all.body.result.unchanged, 1);
  const changed = await register("/harvesters/csw-changes/run", undefined);
  assert.deepEqual([changed.body.state, changed.body.result.registered + changed.body.result.unchanged], ["done", 0]);

  const plain = await startDocuments((path) => {
    const { searchParams } = new URL(path, "http://localhost");
    if (/gmd/.test(searchParams.get("outputSchema") ?? "")) {
      return '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"><ows:Exception/></ows:ExceptionReport>';
    }
    const start = Number(searchParams.get("startPosition"));
    return `<?xml version="1.0"?><csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <csw:SearchResults numberOfRecordsMatched="2" nextRecord="${start === 1 ? 2 : 0}">
      <csw:Record><dc:identifier>dc-${start}</dc:identifier><dc:title>Record ${start}</dc:title><dc:type>dataset</dc:type></csw:Record>
      </csw:SearchResults></csw:GetRecordsResponse>`;
  });
  t.after(plain.close);
  const dublin = await harvest("dublin-core", { url: `${plain.url}/csw`, type: "CSW" });
  assert.deepEqual([dublin.body.state, dublin.body.result.registered], ["done", 2], JSON.stringify(dublin.body));
  assert.equal((await callCatalogue("/collections/metadata:main/items/dc-2")).body.properties.title, "Record 2");

  const records = await startDocuments(() => ({
    type: "FeatureCollection",
    features: [
      {
        ...note,
        id: "of-records",
        links: [
          { rel: "self", href: "./x" },
          { rel: "license", href: "./licence" },
        ],
      },
      makeItem("of-records-item", { collection: "scenes-of-records", assets: {} }),
    ],
    links: [],
  }));
  t.after(records.close);
  const both = await harvest("records", { url: `${records.url}/items`, type: "Records" });
  assert.equal(both.body.result.registered, 2, JSON.stringify(both.body));
  const { body: record } = await callCatalogue("/collections/metadata:main/items/of-records");
  assert.ok(record.links.some(({ href }: { href: string }) => href === `${records.url}/licence`));

  const archive = await startDocuments((path) => {
    switch (path) {
      case "/archive/":
        return '<a href="../">up</a><a href="2024/">2024</a><a href="/elsewhere/">x</a><a href="?C=N">n</a>';
      case "/archive/2024/":
        return '<a href="scene_20240102.tif">a</a><a href="broken_20240103.tif">b</a><a href="notes.txt">c</a>';
      case "/archive/2024/scene_20240102.tif":
        return example("scenes/lommel/B04.tif");
      case "/archive/2024/broken_20240103.tif":
        return "no raster";
      default:
        return undefined;
    }
  });
  t.after(archive.close);
  const scenes = await harvest("oads", { url: `${archive.url}/archive`, type: "OADS" }, { collection: "archive" });
  assert.deepEqual(
    [scenes.body.state, scenes.body.result.registered, scenes.body.result.failed],
    ["done", 1, 1],
    JSON.stringify(scenes.body),
  );
});

async function harvest(name: string, resource: object, more: object = {}) {
  assert.equal((await send("PUT", `/harvesters/${name}`, { resource, ...more })).status, 200);
  return register(`/harvesters/${name}/run`, undefined);
}

test("wrong configurations are refused, with what is allowed", async () => {
  const wrong: readonly [object, RegExp][] = [
    [{ resource: { url: "http://x", type: "FTP" } }, /type must be one of OpenSearch, STACAPI/],
    [{ resource: { type: "STACAPI" } }, /resource\.url must be/],
    [{ resource: { url: "http://x", type: "STACAPI" }, schedule: "every day" }, /must be a cron expression/],
    [{ resource: { url: "http://x", type: "STACAPI" }, postprocess: [{ type: "mine.Own" }] }, /mine\.Own.*not known/],
  ];
  for (const [config, message] of wrong) {
    const { status, body } = await send("PUT", "/harvesters/wrong", config);
    assert.equal(status, 422, JSON.stringify(body));
    assert.match(body.detail, message);
  }
});
