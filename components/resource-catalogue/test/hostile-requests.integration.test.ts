import assert from "node:assert/strict";
import { after, test } from "node:test";

import { parseElements } from "@swath/xml";
import { descendantsOf } from "../xml/element.ts";
import { makeCollection, makeItem, startCatalogue, type TestResponse } from "./fixture.ts";

// What is asked of one interface in the other test files is asked of all of them here: each says what is wrong in its own form.
const catalogue = await startCatalogue();
const { request } = catalogue;
after(() => catalogue.close());

const IDS = ["a/b", "../x", "ü ñ", "日本", "%2F", "a?b#c&d=e", "'\"<i>", "😀", "a,b", "a:b"] as const;

await request("POST", "/stac/collections", { body: makeCollection("h") });
for (const id of ["one", ...IDS]) {
  assert.equal((await request("POST", "/stac/collections/h/items", { body: makeItem(id) })).status, 201, id);
}

const ATTACKS = [
  "'",
  '"',
  "'; drop table record; --",
  "\\",
  "%",
  "%00",
  "<script>alert(1)</script>&",
  "${1}",
  "$1",
  "\u0000",
  "\u{1f600}",
  "9".repeat(400),
  "a".repeat(5000),
  "[]",
  '{"a":{"$gt":1}}',
  "1,2,3",
  "NaN,NaN,NaN,NaN",
  "1e999,0,1,1",
  "10,50,20,40",
  "2024-13-01",
  "2024-02-30T00:00:00Z",
  "2024-01-01/2023-01-01",
  "../..",
  "-1",
];
const SEARCH = ["bbox", "datetime", "limit", "token", "q", "ids", "filter", "filter-lang", "filter-crs", "sortby"];
const RECORDS = [...SEARCH, "bbox-crs", "crs", "offset", "startindex", "type", "externalIds", "facets", "profile"];
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "/stac": ["f"],
  "/stac/search": [...SEARCH, "collections", "intersects", "fields", "query"],
  "/stac/collections": [...SEARCH, "fields", "query"],
  "/stac/collections/h/items": [...SEARCH, "fields", "query"],
  "/stac/collections/h/items/one": ["f", "fields"],
  "/stac/collections/h/queryables": ["f"],
  "/stac/browse": ["token", "f"],
  "/stac/collections/h/browse": ["token", "f"],
  "/stac/aggregate": [...SEARCH, "collections", "aggregations", "cloud_cover_frequency_ranges"],
  "/collections": ["bbox", "datetime", "limit", "q", "f"],
  "/collections/metadata:main/items": [...RECORDS, "platform", "eo:cloud_cover", "title"],
  "/collections/h/items": RECORDS,
  "/collections/h/items/one": ["f", "crs", "profile"],
  "/collections/metadata:main/facets": RECORDS,
  "/collections/metadata:main/queryables": ["f", "profile"],
  "/collections/metadata:main/sortables": ["f"],
  "/changes": ["after", "limit", "collections"],
  "/permissions": ["collection"],
};

/** A refusal says what is wrong; nothing is a fault of the service. */
function checkResponse({ status, headers, body, text }: TestResponse, what: string): void {
  assert.ok(status < 500, `${what}: ${status} ${text.slice(0, 300)}`);
  if (status >= 400) {
    assert.match(headers.get("content-type") ?? "", /^application\/problem\+json/, what);
    assert.ok(body.code !== undefined && body.description.length > 10, `${what}: ${text.slice(0, 300)}`);
    assert.ok(body.description.length < 3000, `${what}: ${text.length} characters`);
  }
}

for (const [address, names] of Object.entries(ADDRESSES)) {
  test(`no parameter of ${address} does more than it says`, async () => {
    for (const name of names) {
      for (const attack of ATTACKS) {
        const query = new URLSearchParams({ [name]: attack }).toString();
        checkResponse(await request("GET", `${address}?${query}`), `${name}=${attack.slice(0, 40)}`);
      }
      const value = encodeURIComponent("<script>alert(1)</script>");
      const { status, text } = await request("GET", `${address}?${name}=${value}${name === "f" ? "" : "&f=html"}`);
      assert.ok(status < 500, `${name} as a page`);
      assert.ok(!text.includes("<script>alert(1)"), `${name} as a page`);
      checkResponse(await request("GET", `${address}?${name}=1&${name}=2`), `${name} twice`);
      checkResponse(await request("GET", `${address}?${name}[a]=1&${name}[]=2`), `${name} as an object`);
    }
  });
}

test("after all that everything is still there", async () => {
  assert.equal((await request("GET", "/stac/search")).body.numberMatched, IDS.length + 1);
});

test("parameters of writers are taken once", async () => {
  for (const [method, path] of [
    ["POST", "/stac/collections?workspace=a&workspace=b"],
    ["POST", "/stac/collections?visibility=public&visibility=workspace"],
    ["PUT", "/stac/collections/h?visibility=public&visibility=workspace"],
    ["POST", "/stac/collections/h/items.ndjson?method=insert&method=upsert"],
  ] as const) {
    const isLoad = path.includes("ndjson");
    const response = await request(method, path, {
      body: isLoad ? "" : makeCollection("h"),
      ...(isLoad && { headers: { "content-type": "application/x-ndjson" } }),
    });
    assert.equal(response.status, 400, `${path}: ${response.text}`);
    checkResponse(response, path);
  }
});

test("the same values in the body of a search", async () => {
  for (const name of [...SEARCH, "collections", "intersects", "fields", "query"]) {
    for (const attack of [...ATTACKS, 7, -1, 1e300, true, [], {}, [[]], [{}], { a: { b: [] } }, [null], "\ud800"]) {
      checkResponse(
        await request("POST", "/stac/search", { body: { [name]: attack } }),
        `${name}: ${JSON.stringify(attack).slice(0, 40)}`,
      );
    }
  }
});

test("wrong times, boxes and reference systems are refused by the JSON interfaces", async () => {
  for (const path of ["/stac/search", "/stac/collections/h/items", "/collections/h/items"]) {
    for (const query of [
      "datetime=yesterday",
      "datetime=2024-02-30T00:00:00Z",
      "datetime=2024-01-02T00:00:00Z/2024-01-01T00:00:00Z",
      "datetime=2024-01-01T00:00:00Z/2024-01-02T00:00:00Z/2024-01-03T00:00:00Z",
      "bbox=1,2,3",
      "bbox=0,50,10,40",
      "bbox=0,-100,10,100",
      "bbox=a,b,c,d",
      "bbox=1,2,3,4,5,6,7",
      `filter-crs=${encodeURIComponent("http://www.opengis.net/def/crs/EPSG/0/3857")}&filter=id='a'`,
    ]) {
      const response = await request("GET", `${path}?${query}`);
      assert.equal(response.status, 400, `${path}?${query}: ${response.text}`);
      checkResponse(response, query);
    }
  }
  const crs = encodeURIComponent("http://www.opengis.net/def/crs/EPSG/0/3857");
  for (const name of ["bbox-crs", "crs"]) {
    assert.equal((await request("GET", `/collections/h/items?bbox=0,0,1,1&${name}=${crs}`)).status, 400, name);
  }
});

test("a collection that does not exist is none in every interface", async () => {
  for (const [path, status] of [
    ["/stac/collections/none", 404],
    ["/stac/collections/none/items", 404],
    ["/stac/collections/none/items/one", 404],
    ["/stac/collections/none/queryables", 404],
    ["/stac/collections/none/browse", 404],
    ["/collections/none", 404],
    ["/collections/none/items", 404],
    ["/collections/none/items/one", 404],
    ["/collections/none/facets", 404],
    ["/collections/none/queryables", 404],
    ["/opensearch/collections/none/search?q=a", 404],
  ] as const) {
    assert.equal((await request("GET", path)).status, status, path);
  }
  assert.equal((await request("GET", "/stac/search?collections=none")).body.numberMatched, 0);
  for (const path of ["/stac/collections/none/items", "/stac/collections/none/bulk_items", "/collections/none/items"]) {
    assert.equal((await request("POST", path, { body: makeItem("x") })).status, 404, path);
  }
});

test("ids with slashes and of every script are found by every interface", async () => {
  for (const id of IDS) {
    const part = encodeURIComponent(id);
    for (const path of [
      `/stac/collections/h/items/${part}`,
      `/collections/h/items/${part}`,
      `/collections/metadata:main/items/${part}`,
    ]) {
      assert.equal((await request("GET", path)).body?.id, id, path);
    }
    assert.equal((await request("GET", `/stac/collections/h/items/${part}?f=html`)).status, 200, id);
    const opensearch = await request("GET", `/opensearch/search?f=json&uid=${part}`);
    assert.equal(opensearch.body.features[0].properties.identifier, id);
    const csw = await request("GET", `/csw?service=CSW&version=3.0.0&request=GetRecordById&id=${part}`);
    assert.equal(csw.status, 200, csw.text);
    assert.equal(descendantsOf(parseElements(csw.text), "identifier")[0]?.text, id);
    const asset = await request("GET", `/stac/collections/h/items/${part}/assets/data`);
    assert.ok(asset.status < 500, `${id}: ${asset.status} ${asset.text}`);
    const etag = (await request("GET", `/stac/collections/h/items/${part}`)).headers.get("etag") ?? "";
    const put = { body: makeItem(id), headers: { "if-match": etag } };
    assert.equal((await request("PUT", `/stac/collections/h/items/${part}`, put)).status, 200, id);
  }
});

test("bodies of 50 MB are refused by every address that takes one, and the service goes on", async () => {
  const large = Buffer.alloc(50 * 2 ** 20, " ");
  large.write("{");
  for (const [method, path, type, status] of [
    ["POST", "/stac/search", "application/json", 413],
    ["POST", "/stac/aggregate", "application/json", 413],
    ["POST", "/stac/collections", "application/json", 413],
    ["PUT", "/stac/collections/h", "application/json", 413],
    ["POST", "/stac/collections/h/items", "application/geo+json", 413],
    ["PUT", "/stac/collections/h/items/one", "application/geo+json", 413],
    ["PATCH", "/stac/collections/h/items/one", "application/merge-patch+json", 413],
    ["POST", "/stac/collections/h/bulk_items", "application/json", 413],
    // A load may be of any size; a line of it may not.
    ["POST", "/stac/collections/h/items.ndjson", "application/x-ndjson", 413],
    ["POST", "/collections/h/items", "application/xml", 413],
    ["PUT", "/collections/h/items/one", "application/geo+json", 413],
    ["POST", "/subscriptions", "application/json", 413],
    ["POST", "/feed-keys", "application/json", 413],
  ] as const) {
    const what = `${method} ${path}`;
    const response = await request(method, path, { body: large, headers: { "content-type": type } }).catch(
      () => undefined,
    );
    // A server may close the connection on what it refuses, before all of it is sent.
    if (response !== undefined) {
      assert.ok(
        [400, 404, 405, status].includes(response.status),
        `${what}: ${response.status} ${response.text.slice(0, 200)}`,
      );
      checkResponse(response, what);
    }
    assert.equal((await request("GET", "/stac/conformance")).status, 200, what);
  }
});

test("XML that is hostile is refused as a record, too", async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${"&a;".repeat(1000)}"><!ENTITY c "${"&b;".repeat(1000)}">]><x>&c;</x>`;
  for (const [what, body] of [
    ["an entity bomb", bomb],
    ["an outside entity", '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>'],
    ["depth", `${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}`],
    ["no end", "<gmd:MD_Metadata"],
    ["no XML", "\u0000\u0001"],
    ["nothing", ""],
    ["another schema", "<x xmlns='urn:y'/>"],
  ] as const) {
    const response = await request("POST", "/collections/metadata:main/items", {
      body,
      headers: { "content-type": "application/xml" },
    });
    assert.equal(response.status, 400, `${what}: ${response.status} ${response.text.slice(0, 200)}`);
    checkResponse(response, what);
    assert.doesNotMatch(response.text, /root:x:/);
  }
});
