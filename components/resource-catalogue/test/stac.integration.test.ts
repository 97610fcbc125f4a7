import assert from "node:assert/strict";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;

interface ItemPage {
  readonly features: readonly { readonly id: string }[];
  readonly numberMatched: number;
  readonly links: readonly { readonly rel: string; readonly href: string }[];
}

after(() => catalogue.close());

await request("POST", "/stac/collections", { body: makeCollection("c1") });
await request("POST", "/stac/collections", { body: makeCollection("c2") });

test("an item is kept byte for byte, and shown with links of the host that was asked", async () => {
  const text = JSON.stringify(makeItem("scene/1 é"), null, 3).replace(
    '"eo:cloud_cover": 10',
    '"eo:cloud_cover": 1.0e1',
  );
  const created = await request("POST", "/stac/collections/c1/items", { body: text });
  assert.equal(created.status, 201, created.text);
  const path = `/stac/collections/c1/items/${encodeURIComponent("scene/1 é")}`;
  assert.equal(created.headers.get("location"), `${catalogue.url}${path}`);
  assert.equal((await request("GET", `${path}?f=source`)).text, text);
  const { body } = await request("GET", path);
  assert.equal(body.collection, "c1");
  assert.equal(body.links.find(({ rel }: { rel: string }) => rel === "self").href, `${catalogue.url}${path}`);
  assert.equal((await request("POST", "/stac/collections/c1/items", { body: text })).status, 409);
});

test("searches by place, time, property, text and CQL2 find the same item", async () => {
  await request("POST", "/stac/collections/c2/items", {
    body: {
      type: "FeatureCollection",
      features: Array.from({ length: 30 }, (_, index) =>
        makeItem(`many-${index}`, {
          properties: {
            datetime: `2024-07-${String(index + 1).padStart(2, "0")}T10:00:00Z`,
            "eo:cloud_cover": index,
            ...(index % 3 === 0 && { "view:off_nadir": index % 2 }),
            title: index === 7 ? "Vegetació de primavera" : "Scene",
          },
        }),
      ),
    },
  });
  for (const query of [
    "collections=c2&datetime=2024-07-08T00:00:00Z/2024-07-08T23:59:59Z",
    "collections=c2&q=vegetacio",
    `collections=c2&filter=${encodeURIComponent('"eo:cloud_cover" = 7')}`,
    `filter-lang=cql2-json&filter=${encodeURIComponent(
      JSON.stringify({
        op: "and",
        args: [
          { op: "=", args: [{ property: "collection" }, "c2"] },
          { op: "between", args: [{ property: "eo:cloud_cover" }, 6.5, 7.5] },
        ],
      }),
    )}`,
    // As STAC Browser sends one chosen filter.
    `collections=c2&filter-lang=cql2-json&filter=${encodeURIComponent(
      JSON.stringify({ op: "and", args: [{ op: "=", args: [{ property: "eo:cloud_cover" }, 7] }] }),
    )}`,
    `filter=${encodeURIComponent("ACCENTI(title) LIKE 'Vegetacio%' AND S_INTERSECTS(geometry, POINT(10.5 45.5))")}`,
    `query=${encodeURIComponent(JSON.stringify({ "eo:cloud_cover": { gte: 7, lt: 8 } }))}&collections=c2`,
    "ids=many-7",
  ]) {
    const { status, body, text } = await request("GET", `/stac/search?${query}`);
    assert.equal(status, 200, `${query}: ${text}`);
    assert.deepEqual(
      body.features.map(({ id }: { id: string }) => id),
      ["many-7"],
      query,
    );
    assert.equal(body.numberMatched, 1, query);
  }
});

test("a query's numbers may be texts, as clients make them of `eo:cloud_cover<10`", async () => {
  for (const [query, expected] of [
    [{ "eo:cloud_cover": { gte: "7", lt: "8" } }, 1],
    [{ "eo:cloud_cover": { in: ["3", "11"] } }, 2],
    [{ "view:off_nadir": { eq: "1" } }, 5],
    [{ "view:off_nadir": { lt: "1e0" } }, 5],
    // A text that is no number stays one.
    [{ title: { eq: "Scene" } }, 29],
  ] as const) {
    const { status, body, text } = await request("POST", "/stac/search", {
      body: { collections: ["c2"], query, limit: 1 },
    });
    assert.equal(status, 200, text);
    assert.equal(body.numberMatched, expected, JSON.stringify(query));
  }
});

test("the items of a collection may be asked for with its name once more, and with no other", async () => {
  const items = "/stac/collections/c2/items?limit=5&collections=";
  const { status, body } = await request("GET", `${items}c2`);
  assert.deepEqual([status, body.numberMatched], [200, 30]);
  const other = await request("GET", `${items}c1`);
  assert.equal(other.status, 400);
  assert.match(other.text, /no other collection than that of the address, c2/);
});

test("members of a search that are not known are named in a header and have no effect", async () => {
  const { status, headers, body } = await request("POST", "/stac/search", {
    body: { collections: ["c2"], context: "on", conf: { nofields: true }, "x\ny": 1, limit: 1 },
  });
  assert.deepEqual([status, body.numberMatched, headers.get("x-ignored-members")], [200, 30, "context, conf"]);
});

test("pages by token meet every item once, whatever the order, forwards and backwards", async () => {
  const orders = ["-datetime", "+id", "-eo:cloud_cover", "title,-id", "view:off_nadir", "-view:off_nadir,+datetime"];
  for (const sortby of orders) {
    const first = `${catalogue.url}/stac/search?collections=c2&limit=7&sortby=${encodeURIComponent(sortby)}`;
    const forwards = await follow(first, "next");
    assert.equal(new Set(forwards.flat()).size, 30, sortby);
    assert.deepEqual(
      forwards.map(({ length }) => length),
      [7, 7, 7, 7, 2],
      sortby,
    );
    const backwards = await follow(lastAddress, "prev");
    assert.deepEqual(backwards.toReversed(), forwards, sortby);
    // From the first page, reached backwards, the way leads forwards again.
    assert.deepEqual((await follow(lastAddress, "next")).flat(), forwards.flat(), sortby);
  }
});

let lastAddress = "";

/** Ids of the pages from an address on; `lastAddress` is the last one's. */
async function follow(address: string, rel: "next" | "prev"): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  for (let url: string | undefined = address; url !== undefined;) {
    lastAddress = url;
    const page = (await fetch(url).then((response) => response.json())) as ItemPage;
    assert.equal(page.numberMatched, 30);
    pages.push(page.features.map(({ id }) => id));
    url = page.links.find((link) => link.rel === rel)?.href;
  }
  return pages;
}

test("changes need the version that was read", async () => {
  const { headers } = await request("POST", "/stac/collections/c1/items", { body: makeItem("etag") });
  const etag = headers.get("etag") ?? "";
  const put = (tag: string, cloud: number) =>
    request("PUT", "/stac/collections/c1/items/etag", {
      headers: { "if-match": tag },
      body: makeItem("etag", { properties: { datetime: "2024-01-01T00:00:00Z", "eo:cloud_cover": cloud } }),
    });
  const first = await put(etag, 1);
  assert.equal(first.status, 200, first.text);
  assert.equal((await put(etag, 2)).status, 412);
  const patched = await request("PATCH", "/stac/collections/c1/items/etag", {
    body: { properties: { "eo:cloud_cover": null, gsd: 10 } },
  });
  assert.equal(patched.status, 200, patched.text);
  assert.deepEqual(patched.body.properties, { datetime: "2024-01-01T00:00:00Z", gsd: 10 });
  for (const body of [{ id: "other" }, { collection: "c2" }, { type: "Collection" }, { stac_version: null }]) {
    const refused = await request("PATCH", "/stac/collections/c1/items/etag", { body });
    assert.equal(refused.status, 400, `${JSON.stringify(body)}: ${refused.text}`);
  }
  assert.equal((await request("DELETE", "/stac/collections/c1/items/etag")).status, 204);
  assert.equal((await request("DELETE", "/stac/collections/c1/items/etag")).status, 404);
});

test("what is wrong with a document is said with path, value and rule", async () => {
  const { status, body } = await request("POST", "/stac/collections/c1/items", {
    body: makeItem("bad", { properties: { datetime: "yesterday" }, assets: { data: {} } }),
  });
  assert.equal(status, 400);
  assert.deepEqual(body.errors, [
    { path: "/properties/datetime", rule: 'must match format "date-time"', value: "yesterday" },
    { path: "/assets/data/href", rule: "is required" },
  ]);
  assert.equal(body.code, "InvalidDocument");
});

test("pages of other hosts may search", async () => {
  const { status, headers } = await request("OPTIONS", "/stac/search", { headers: { origin: "https://example.org" } });
  assert.equal(status, 204);
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.match(headers.get("access-control-allow-headers") ?? "", /Authorization, Content-Type/);
  // What scripts may read of a response is said with it, not with the preflight.
  const read = await request("GET", "/stac/collections/c1", { headers: { origin: "https://example.org" } });
  assert.equal(read.headers.get("access-control-expose-headers"), "ETag, Location");
  const refused = await request("GET", "/stac/collections/none", { headers: { origin: "https://example.org" } });
  assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [404, "*"]);
});

test("between is taken in the form of drafts, too: two bounds in a list", async () => {
  const filter = { op: "between", args: [{ property: "eo:cloud_cover" }, [6.5, 7.5]] };
  const { body } = await request("POST", "/stac/search", { body: { filter, collections: ["c2"] } });
  assert.deepEqual(
    body.features.map(({ id }: { id: string }) => id),
    ["many-7"],
  );
});

test("fields: what is excluded is not sent, also of the standard ones; named in both lists, it is sent", async () => {
  const send = async (fields: unknown) =>
    (await request("POST", "/stac/search", { body: { ids: ["many-7"], fields } })).body.features[0];
  const byText = async (fields: string) =>
    (await request("GET", `/stac/search?ids=many-7&fields=${encodeURIComponent(fields)}`)).body.features[0];
  for (const item of [await send({ exclude: ["geometry"], include: [] }), await byText("-geometry")]) {
    assert.equal(item.geometry, undefined);
    assert.deepEqual(item.properties, { datetime: "2024-07-08T10:00:00Z" });
    assert.equal(item.id, "many-7");
  }
  assert.equal((await send({ exclude: ["geometry"], include: null })).geometry, undefined);
  assert.equal((await send({ exclude: ["properties"], include: null })).properties, undefined);
  assert.equal((await send({ exclude: ["geometry"] })).properties["eo:cloud_cover"], 7);
  assert.notEqual((await byText("+geometry,-geometry")).geometry, undefined);
  assert.deepEqual((await byText("-properties,+properties.title")).properties, { title: "Vegetació de primavera" });
  assert.deepEqual((await send({})).properties, { datetime: "2024-07-08T10:00:00Z" });
});

test("fields that name nothing keep the interval of an item without a datetime", async () => {
  const interval = { datetime: null, start_datetime: "2024-01-01T00:00:00Z", end_datetime: "2024-02-01T00:00:00Z" };
  await request("POST", "/stac/collections", { body: makeCollection("intervals") });
  await request("POST", "/stac/collections/intervals/items", {
    body: makeItem("interval-1", { properties: { ...interval, gsd: 10 } }),
  });
  const { body } = await request("GET", "/stac/search?ids=interval-1&fields=");
  assert.deepEqual(body.features[0].properties, interval);
});
