import assert from "node:assert/strict";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue({ SEARCH_TIMEOUT_SECONDS: "1", DATABASE_CONNECTIONS: "5" });
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("f") });
const properties = {
  datetime: "2024-06-01T10:00:00Z",
  built: "2012-08-10",
  starts_at: "2010-02-10T23:59:59.999999Z",
  ends_at: "2010-10-07T00:00:00Z",
  title: "a",
  amount: 3,
  times: ["2012-08-10T05:30:00Z", "2012-08-10T05:30:00.5Z", "2010-02-10"],
  tags: ["a", "b", "b"],
  view: { sun: { elevation: 30 } },
  "a.b": "flat",
  a: { b: "nested", c: "deep" },
};
await request("POST", "/stac/collections/f/items", { body: makeItem("one", { properties }) });

const search = (filter: unknown) =>
  request("POST", "/stac/search", {
    body: { filter, "filter-lang": typeof filter === "string" ? "cql2-text" : "cql2-json" },
  });

for (const [filter, matched] of [
  ["T_BEFORE(built, DATE('2015-01-01'))", 1],
  ["T_AFTER(built, DATE('2012-06-05'))", 1],
  ["T_AFTER(datetime, DATE('2024-06-01'))", 0],
  ["T_AFTER(\"datetime\", DATE('2024-05-31'))", 1],
  ["T_MEETS(INTERVAL('2005-01-10', '2010-02-10'), INTERVAL(starts_at, ends_at))", 1],
  ["T_METBY(INTERVAL('2010-10-07T00:00:00Z', '2010-10-08'), INTERVAL(starts_at, ends_at))", 1],
  ["title BETWEEN 'a' AND 'b'", 1],
  ["title NOT BETWEEN 'a' AND 'b'", 0],
  ["built BETWEEN DATE('2012-01-01') AND TIMESTAMP('2012-12-31T00:00:00Z')", 1],
  ["amount = 1 + 1 + 1", 1],
  ["A_OVERLAPS(times, (TIMESTAMP('2012-08-10T07:30:00.000+02:00'), DATE('2010-02-11'), FALSE))", 1],
  ["A_CONTAINS(times, (TIMESTAMP('2012-08-10T05:30:00.50Z'), DATE('2010-02-10')))", 1],
  ["A_CONTAINS(times, (TIMESTAMP('2012-08-10T05:30:01Z')))", 0],
  ["A_EQUALS(tags, ('b', 'a'))", 1],
  ["A_EQUALS(tags, ('a', 'b', 'c'))", 0],
  ["A_CONTAINEDBY(tags, ('a', 'b', 'c'))", 1],
  ["A_OVERLAPS(tags, ('c', 'd'))", 0],
  ['"view.sun.elevation" > 20', 1],
  ["\"a.b\" = 'flat'", 1],
  ["\"a.b\" = 'nested'", 0],
  ["\"properties.a.c\" = 'deep'", 1],
  ['"a.c.d" IS NULL', 1],
  ["__proto__ = 1", 0],
  ["constructor IS NULL", 1],
] as const) {
  test(`answers ${filter}`, async () => {
    const { status, text, body } = await search(filter);
    assert.equal(status, 200, text);
    assert.equal(body.numberMatched, matched);
  });
}

for (const [filter, said] of [
  ["NOT id", /operand 1 of not must be .*; the property id is a text/i],
  ["id + 1 = 2", /operand 1 of \+ must be a number .*; the property id is a text/i],
  ["A_CONTAINS(title, datetime)", /operand 2 of a_contains must be a list .*; the property datetime is a time/i],
  ["geometry = 1", /operand 1 of = must be .*; the property geometry is a geometry; use S_INTERSECTS/i],
  ["id = 5", /= compares values of one type; the property id is a text and 5 is a number/i],
  ["id IN (1, 2)", /in compares values of one type/i],
  ["T_AFTER(geometry, DATE('2020-01-01'))", /operand 1 of t_after must be a time, an interval/i],
  ["S_INTERSECTS(id, POINT(1 1))", /operand 1 of s_intersects must be a geometry; the property id is a text/i],
  [`amount > ${Array.from({ length: 3000 }, () => "1").join("+")}`, /more than 400 operators inside each other/],
  [Array.from({ length: 800 }, (_, index) => `p${index}='x'`).join(" AND "), /more than 250 conditions/],
  [{ op: "=", args: [{ property: "id" }] }, /= takes 2 operands, not 1/],
  [
    { op: "t_during", args: [{ interval: [{ property: "id" }, ".."] }, { interval: ["..", ".."] }] },
    /INTERVAL takes .*; the property id is a text/,
  ],
] as const) {
  test(`refuses, and says which operand: ${JSON.stringify(filter).slice(0, 70)}`, async () => {
    const { status, body, text } = await search(filter);
    assert.equal(status, 400, text);
    assert.match(body.description, said);
  });
}

for (const query of [
  "sortby=constructor",
  "sortby=-__proto__,toString",
  "filter=__proto__%20%3D%201",
  "fields=__proto__,constructor",
  "filter-lang=constructor&filter=a%3D1",
]) {
  test(`names of what every object has are names like any other: ${query}`, async () => {
    for (const path of [
      "/stac/search",
      "/stac/collections/f/items",
      "/collections/f/items",
      "/collections",
      "/stac/collections",
    ]) {
      const { status, text } = await request("GET", `${path}?${query}`);
      assert.ok(status < 500, `${path}: ${status} ${text}`);
    }
  });
}

const ring = (positions: number, shift: number): object => {
  const round = Array.from({ length: positions }, (_, index) => [
    15 + shift + 8 * Math.cos((index / positions) * 2 * Math.PI),
    45 + 8 * Math.sin((index / positions) * 2 * Math.PI),
  ]);
  return { type: "Polygon", coordinates: [[...round, round[0]]] };
};

test("a search that takes too long is ended and says so; single records and writes go on meanwhile", async () => {
  const features = Array.from({ length: 60 }, (_, index) =>
    makeItem(`large-${index}`, { geometry: ring(1500, 0), bbox: [7, 37, 23, 53] }),
  );
  const written = await request("POST", "/stac/collections/f/items", { body: { type: "FeatureCollection", features } });
  assert.equal(written.status, 201, written.text);
  const slow = Array.from({ length: 4 }, () =>
    request("POST", "/stac/search", { body: { intersects: ring(2000, 0.001) } }),
  );
  assert.equal((await request("GET", "/stac/collections/f/items/one")).status, 200);
  assert.equal((await request("POST", "/stac/collections/f/items", { body: makeItem("meanwhile") })).status, 201);
  for (const { status, body } of await Promise.all(slow)) {
    assert.equal(status, 400);
    assert.match(body.description, /took too long/);
  }
  const refused = await request("POST", "/stac/search", { body: { intersects: ring(5001, 0) } });
  assert.equal(refused.status, 400);
  assert.match(refused.body.description, /at most 5000 positions/);
});
