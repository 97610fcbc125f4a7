import assert from "node:assert/strict";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("h") });
await request("POST", "/stac/collections/h/items", { body: makeItem("one") });

const deepJson = (depth: number): unknown => {
  let filter: unknown = { op: "=", args: [{ property: "id" }, "x"] };
  for (let level = 0; level < depth; level += 1) {
    filter = { op: "not", args: [filter] };
  }
  return filter;
};

test("hostile filters are refused with 400 and a reason, whatever they are", async () => {
  const texts = [
    `${"(".repeat(50_000)}a=1${")".repeat(50_000)}`,
    `${"NOT ".repeat(10_000)}a=1`,
    `a=${"-".repeat(60_000)}1`,
    `a=1 ${"OR a=1 ".repeat(30_000)}`,
    "a LIKE 'x\\'",
    "a = 'unclosed",
    "S_INTERSECTS(geometry, POLYGON((0 0,1 1)))",
    "S_INTERSECTS(geometry, POINT(nan nan))",
    "S_INTERSECTS(geometry, BBOX(1,2))",
    "T_DURING(datetime, TIMESTAMP('2020-01-01T00:00:00Z'))",
    "datetime > 5",
    "geometry = 1",
    "pg_sleep(10) = 1",
    "a = 1; drop table record",
    "a = 1 --",
    "1",
    "'x'",
  ];
  for (const filter of texts) {
    const { status, body } = await request("POST", "/stac/search", { body: { filter, "filter-lang": "cql2-text" } });
    assert.equal(status, 400, filter.slice(0, 60));
    assert.ok(body.description.length < 2000, filter.slice(0, 60));
  }
  for (const filter of [
    deepJson(100),
    { op: "and", args: [] },
    { op: "casei", args: [1] },
    [],
    7,
    { op: "=", args: [{ property: "a" }] },
  ]) {
    assert.equal(
      (await request("POST", "/stac/search", { body: { filter } })).status,
      400,
      JSON.stringify(filter).slice(0, 60),
    );
  }
});

test("a body that is deeper than any stack is refused", async () => {
  const body = `{"filter":${'{"op":"not","args":['.repeat(20_000)}true${"]}".repeat(20_000)}}`;
  assert.equal((await request("POST", "/stac/search", { body })).status, 400);
});

test("SQL in any parameter is only text", async () => {
  const attack = `'; drop table record; --\\' or 1=1 "`;
  const value = encodeURIComponent(attack);
  const property = encodeURIComponent(`"${attack.replaceAll('"', "")}" = 1`);
  for (const query of [
    `ids=${value}`,
    `collections=${value}`,
    `q=${value}`,
    `filter=${encodeURIComponent(`id = '${attack.replaceAll("'", "''")}'`)}`,
    `filter=${property}`,
    `sortby=${value}`,
    `query=${encodeURIComponent(JSON.stringify({ [attack]: { eq: attack } }))}`,
    `fields=${value}`,
  ]) {
    const { status, text } = await request("GET", `/stac/search?${query}`);
    assert.ok(status === 200 || status === 400, `${query}: ${status} ${text}`);
  }
  for (const query of [
    `bbox=${value}`,
    `datetime=${value}`,
    `limit=${value}`,
    `token=${value}`,
    `intersects=${value}`,
  ]) {
    assert.equal((await request("GET", `/stac/search?${query}`)).status, 400, query);
  }
  assert.equal((await request("GET", "/stac/search")).body.numberMatched, 1);
});

test("tokens that were made up are refused or lead nowhere", async () => {
  const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  for (const text of [
    "x",
    token({}),
    token([["2024"], "x"]),
    token([[["a"]], "1"]),
    token([["not a time"], "1"]),
    token([[], "1"]),
    token([["2024-01-01", "b"], "1"]),
  ]) {
    assert.equal((await request("GET", `/stac/search?token=${text}`)).status, 400, text);
  }
});

test("documents with bad bytes, texts and numbers are refused with 400", async () => {
  const post = (body: string | Uint8Array) => request("POST", "/stac/collections/h/items", { body });
  const text = JSON.stringify(makeItem("bad"));
  for (const body of [
    "{",
    "[]",
    "null",
    `{"id":"x","id":"y",${text.slice(1)}`,
    text.replace('"platform":"sentinel-2a"', '"platform":"a\\u0000b"'),
    text.replace('"platform":"sentinel-2a"', '"platform":"\\ud800"'),
    text.replace('"id":"bad"', '"id":"a\\nb"'),
    text.replace('"id":"bad"', `"id":"${"x".repeat(501)}"`),
    text.replace("[10,45]", "[10,95]"),
    text.replace("[10,45]", '["10",45]'),
    text.replace('"links":[]', `"links":[],"deep":${"[".repeat(200)}${"]".repeat(200)}`),
  ]) {
    const { status, text: said } = await post(body);
    assert.equal(status, 400, `${body.slice(0, 80)}: ${said}`);
  }
  assert.equal((await post(Uint8Array.from([0x7b, 0xff, 0x7d]))).status, 400);
});

test("ids of every script and with every sign are found again", async () => {
  for (const id of ["a/b", "ü ñ", "日本", "%2F", "a?b#c", "..", "'\"", "😀"]) {
    const { status, headers } = await request("POST", "/stac/collections/h/items", { body: makeItem(id) });
    assert.equal(status, 201, id);
    const path = new URL(headers.get("location") ?? "").pathname;
    if (id !== "..") {
      assert.equal((await request("GET", path)).body.id, id);
    }
    assert.equal((await request("POST", "/stac/search", { body: { ids: [id] } })).body.features[0].id, id);
  }
});

test("places are right across the antimeridian, at poles, in height and without geometry", async () => {
  const put = async (id: string, geometry: unknown, bbox?: readonly number[]) => {
    const { status, text } = await request("POST", "/stac/collections/h/items", {
      body: makeItem(id, { geometry, ...(bbox === undefined ? { bbox: undefined } : { bbox }) }),
    });
    assert.equal(status, 201, `${id}: ${text}`);
  };
  const ring = (...points: readonly (readonly number[])[]) => ({
    type: "Polygon",
    coordinates: [[...points, points[0]]],
  });
  await put("jump", ring([179, 0], [-179, 0], [-179, 1], [179, 1]), [179, 0, -179, 1]);
  await put("flawed", ring([179, 10], [-179, 10], [-179, 11], [179, 11]), [-179, 10, 179, 11]);
  await put(
    "split",
    {
      type: "MultiPolygon",
      coordinates: [
        ring([179, 20], [180, 20], [180, 21], [179, 21]).coordinates,
        ring([-180, 20], [-179, 20], [-179, 21], [-180, 21]).coordinates,
      ],
    },
    [179, 20, -179, 21],
  );
  await put("pole", ring([-150, 80], [-60, 80], [30, 80], [120, 80]), [-180, 80, 180, 90]);
  await put("high", { type: "Point", coordinates: [50, 50, 3000] }, [50, 50, 3000, 50, 50, 3000]);
  await put("nowhere", null);
  const found = async (bbox: readonly number[]): Promise<string[]> =>
    (await request("POST", "/stac/search", { body: { bbox, limit: 100 } })).body.features
      .map(({ id }: { id: string }) => id)
      .toSorted();
  assert.deepEqual(await found([178, -1, -178, 30]), ["flawed", "jump", "split"]);
  assert.deepEqual(await found([-179.8, -1, -179.5, 30]), ["flawed", "jump", "split"]);
  assert.deepEqual(await found([179.5, -1, 179.8, 30]), ["flawed", "jump", "split"]);
  assert.deepEqual(await found([-90, 0, 0, 30]), []);
  assert.deepEqual(await found([0, 88, 1, 90]), ["pole"]);
  assert.deepEqual(await found([49, 49, 51, 51]), ["high"]);
  assert.deepEqual(await found([49, 49, 0, 51, 51, 100]), []);
  assert.deepEqual(await found([49, 49, 2000, 51, 51, 4000]), ["high"]);
});
