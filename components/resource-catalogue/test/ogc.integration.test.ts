import assert from "node:assert/strict";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("scenes") });
await request("POST", "/stac/collections/scenes/items", { body: makeItem("scene") });
const service = {
  type: "Feature",
  id: "ades",
  geometry: null,
  time: null,
  properties: {
    type: "service",
    title: "Processing service",
    keywords: ["ADES"],
    externalIds: [{ scheme: "urn", value: "x1" }],
  },
  links: [{ rel: "service", href: "https://ades.example.org", type: "application/json" }],
};

test("a POST of CQL2 JSON to the items searches them, and its links lead on by GET", async () => {
  for (const id of ["later", "latest"]) {
    const body = makeItem(id, { properties: { datetime: "2031-01-01T00:00:00Z" } });
    const created = await request("POST", "/stac/collections/scenes/items", { body });
    assert.equal(created.status, 201, created.text);
  }
  const filter = { op: ">", args: [{ property: "datetime" }, "2030-01-01T00:00:00Z"] };
  const first = await request("POST", "/collections/scenes/items?limit=1", { body: filter });
  assert.equal(first.status, 200, first.text);
  assert.equal(first.body.numberMatched, 2);
  assert.equal(first.body.features.length, 1);
  const next = new URL(first.body.links.find(({ rel }: { rel: string }) => rel === "next").href);
  const second = await request("GET", `${next.pathname}${next.search}`);
  const ids = [first, second].flatMap(({ body }) => body.features.map(({ id }: { id: string }) => id));
  assert.deepEqual(new Set(ids), new Set(["later", "latest"]));
  const wrong = await request("POST", "/collections/scenes/items", { body: { op: "no-operator", args: [] } });
  assert.equal(wrong.status, 400, wrong.text);
  for (const id of ["later", "latest"]) {
    await request("DELETE", `/stac/collections/scenes/items/${id}`);
  }
});

test("Records Part 1: services are written to metadata:main and found by type, q, filter and externalIds", async () => {
  const created = await request("POST", "/collections/metadata:main/items", { body: service });
  assert.equal(created.status, 201, created.text);
  for (const query of [
    "type=service",
    "q=processing%20serv",
    "filter=title%20LIKE%20%27Proc%25%27",
    "externalIds=urn:x1",
    "title=Processing%20service",
    "ids=ades",
  ]) {
    const { body, text } = await request("GET", `/collections/metadata:main/items?${query}`);
    assert.deepEqual(
      body.features?.map(({ id }: { id: string }) => id),
      ["ades"],
      `${query}: ${text}`,
    );
  }
});

test("Records Part 1: metadata:main has every record, each with type and title", async () => {
  const { body } = await request("GET", "/collections/metadata:main/items?facets=true");
  assert.deepEqual(body.features.map(({ id }: { id: string }) => id).toSorted(), [
    "ades",
    "metadata:main",
    "scene",
    "scenes",
  ]);
  for (const { properties } of body.features) {
    assert.equal(typeof properties.title, "string");
    assert.equal(typeof properties.type, "string");
  }
  assert.equal(body.numberMatched, 4);
  assert.deepEqual(
    body.facets.type.buckets.map(({ value }: { value: string }) => value),
    ["collection", "dataset", "service"],
  );
});

test("a record that is no STAC is an item in the STAC API, and a STAC item a record in the OGC API", async () => {
  const item = (await request("GET", "/stac/collections/metadata:main/items/ades")).body;
  assert.equal(item.stac_version, "1.1.0");
  assert.equal(typeof item.properties.datetime, "string");
  const record = (await request("GET", "/collections/scenes/items/scene")).body;
  assert.deepEqual(record.time, { timestamp: "2024-06-01T10:00:00Z" });
  assert.equal(record.links.find(({ rel }: { rel: string }) => rel === "enclosure").href, "s3://bucket/data.tif");
});

test("Features Part 4: records are replaced, patched and deleted, in metadata:main, too", async () => {
  const put = await request("PUT", "/collections/metadata:main/items/ades", {
    body: { ...service, properties: { ...service.properties, title: "ADES" } },
  });
  assert.equal(put.status, 200, put.text);
  const patch = await request("PATCH", "/collections/metadata:main/items/ades", {
    body: { properties: { title: "Other" } },
  });
  assert.equal(patch.body.properties.title, "Other", patch.text);
  assert.equal(
    (await request("PUT", "/collections/metadata:main/items/other", { body: { ...service, id: "other" } })).status,
    404,
  );
  assert.equal((await request("DELETE", "/collections/metadata:main/items/ades")).status, 204);
  assert.equal((await request("GET", "/collections/metadata:main/items/ades")).status, 404);
});

test("Part 1 §7.15: unknown parameters, wrong boxes and times are refused, and said why", async () => {
  for (const query of [
    "nonsense=1",
    "bbox=1,2,3",
    "bbox=1,5,2,4",
    "datetime=2020",
    "limit=0",
    "crs=EPSG:4326",
    "filter=(",
    "sortby=",
  ]) {
    const { status, body } = await request("GET", `/collections/scenes/items?${query}`);
    assert.equal(status, query === "sortby=" ? 200 : 400, query);
    assert.ok(status === 200 || body.description.length > 10, query);
  }
});

test("aggregation extension: what a search matches is counted and grouped", async () => {
  const { body, text } = await request(
    "GET",
    "/stac/aggregate?aggregations=total_count,datetime_max,collection_frequency,cloud_cover_frequency,datetime_frequency&collections=scenes",
  );
  const [total, latest, collections, clouds, times] = body.aggregations ?? [];
  assert.equal(total?.value, 1, text);
  assert.equal(latest.value, "2024-06-01T10:00:00.000Z");
  assert.deepEqual(collections.buckets, [{ key: "scenes", data_type: "string", frequency: 1 }]);
  assert.deepEqual(clouds.buckets, [{ key: "10", data_type: "numeric", frequency: 1, from: 10, to: 20 }]);
  assert.equal(times.buckets[0].key, "2024-06-01T00:00:00Z");
});

test("Part 3: queryables say what the records of a collection have", async () => {
  const { body } = await request("GET", "/collections/scenes/queryables");
  assert.equal(body.$id, `${catalogue.url}/collections/scenes/queryables`);
  assert.deepEqual(body.properties.platform, { title: "platform", type: "string" });
});

test("the OpenAPI document is 3.0, 3.1 for clients that accept it, and plain JSON for those that know no other", async () => {
  const type = (version: string) => `application/vnd.oai.openapi+json;version=${version}`;
  for (const path of ["/openapi", "/stac/api", "/openapi.json"]) {
    for (const [accept, version, sent] of [
      ["*/*", "3.0.3", type("3.0")],
      [type("3.0"), "3.0.3", type("3.0")],
      [type("3.1"), "3.1.0", type("3.1")],
      ["application/json", "3.0.3", "application/json"],
      ["text/html,application/xhtml+xml,*/*;q=0.8", "3.0.3", type("3.0")],
    ] as const) {
      const { headers, body } = await request("GET", path, { headers: { accept } });
      assert.equal(headers.get("content-type")?.replace("; charset=utf-8", ""), sent, `${path} ${accept}`);
      assert.equal(body.openapi, version);
      const [limit] = body.paths["/collections/{collection}/items"].get.parameters;
      const { schema, ...parameter } = limit;
      assert.deepEqual(
        [parameter.name, parameter.in, parameter.required, parameter.style, parameter.explode],
        ["limit", "query", false, "form", false],
      );
      assert.deepEqual(schema, { type: "integer", minimum: 1, maximum: 10_000, default: 10 });
    }
  }
});
