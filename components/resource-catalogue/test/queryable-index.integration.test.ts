import assert from "node:assert/strict";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";
import pg from "pg";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
const client = new pg.Client({ connectionString: catalogue.postgres.url, options: "-c search_path=catalogue,public" });
after(async () => {
  await client.end();
  await catalogue.close();
});
await client.connect();

const ITEMS = 6000;
const DECLARED = {
  "view:sun_elevation": { title: "Elevation of the sun", type: "number" },
  "sat:orbit": { type: "string" },
  acquired: { type: "string", format: "date-time" },
  instruments: { type: "array" },
};
/** Filters, the property that each is of, and how many items match. */
const FILTERS = [
  [`"view:sun_elevation" > ${ITEMS - 4}`, 3],
  [`"view:sun_elevation" BETWEEN 10 AND 12`, 3],
  [`"sat:orbit" = 'orbit-17'`, 1],
  [`"sat:orbit" IN ('orbit-1', 'orbit-2', 'none')`, 2],
  [`"sat:orbit" = '${"x".repeat(5000)}'`, 1],
  [`"sat:orbit" IN ('${"🛰".repeat(300)}')`, 1],
  [`NOT "sat:orbit" <> 'orbit-17'`, 1],
  [`acquired < TIMESTAMP('1970-01-01T00:00:10Z')`, 10],
] as const;

await request("POST", "/stac/collections", { body: makeCollection("many") });
await request("POST", "/stac/collections", { body: makeCollection("other") });
const lines = Array.from({ length: ITEMS }, (_, index) =>
  JSON.stringify(
    makeItem(`i${index}`, {
      properties: {
        datetime: "2024-06-01T10:00:00Z",
        "view:sun_elevation": index,
        "sat:orbit": `orbit-${index}`,
        acquired: new Date(index * 1000).toISOString(),
      },
    }),
  ),
).join("\n");
const loaded = await request("POST", "/stac/collections/many/items.ndjson", {
  body: lines,
  headers: { "content-type": "application/x-ndjson" },
});
assert.equal(loaded.status, 201, loaded.text);
// Longer than an index takes, and the same as another one at its beginning.
for (const [id, orbit] of [
  ["long", "x".repeat(5000)],
  ["longer", `${"x".repeat(5000)}y`],
  ["satellites", "🛰".repeat(300)],
] as const) {
  const properties = { datetime: "2024-06-01T10:00:00Z", "sat:orbit": orbit };
  await request("POST", "/stac/collections/many/items", { body: makeItem(id, { properties }) });
}

async function listIndexes(): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname ~ '_q_[0-9a-f]{16}$' and i.indisvalid order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function checkFilters(): Promise<void> {
  for (const [filter, expected] of FILTERS) {
    const { status, text, body } = await request(
      "GET",
      `/stac/search?collections=many&limit=20&filter-lang=cql2-text&filter=${encodeURIComponent(filter)}`,
    );
    assert.equal(status, 200, text);
    assert.equal(body.numberMatched, expected, filter.slice(0, 60));
  }
}

const declare = (collection: string, properties: unknown) =>
  request("PUT", `/stac/collections/${collection}/queryables`, { body: { type: "object", properties } });

test("declared queryables are listed, and have indexes that are used; filters give the same with and without", async () => {
  await checkFilters();
  assert.deepEqual(await listIndexes(), []);
  assert.equal((await declare("many", DECLARED)).status, 204);
  const { body } = await request("GET", "/stac/collections/many/queryables");
  assert.deepEqual(body.properties["view:sun_elevation"], DECLARED["view:sun_elevation"]);
  assert.equal(body.properties.id.type, "string");
  // Lists have none.
  await waitUntil("three indexes", async () => (await listIndexes()).length === 3);
  await checkFilters();
  for (const name of await listIndexes()) {
    await waitUntil(`${name} to be used`, async () => {
      await checkFilters();
      // What a session has used is told a moment later.
      const { rows } = await client.query<{ uses: string }>(
        "select idx_scan as uses from pg_stat_user_indexes where indexrelname = $1",
        [name],
      );
      return Number(rows[0]?.uses) > 0;
    });
  }
});

test("an index goes when the last collection that declares it does not any more", async () => {
  assert.equal((await declare("other", { "sat:orbit": { type: "string" } })).status, 204);
  assert.equal((await request("DELETE", "/stac/collections/many/queryables")).status, 204);
  await waitUntil("one index", async () => (await listIndexes()).length === 1);
  await request("DELETE", "/stac/collections/other");
  await waitUntil("no index", async () => (await listIndexes()).length === 0);
  await checkFilters();
});

test("an index that was left unfinished is made anew", async () => {
  await declare("many", { "sat:orbit": { type: "string" } });
  await waitUntil("the index", async () => (await listIndexes()).length === 1);
  const [name = ""] = await listIndexes();
  await client.query("update pg_index set indisvalid = false where indexrelid = $1::regclass", [name]);
  assert.deepEqual(await listIndexes(), []);
  await declare("many", { "sat:orbit": { type: "string" } });
  await waitUntil("the index again", async () => (await listIndexes()).length === 1);
});

test("the index of places is made by the service where a migration left it out", async () => {
  await client.query("drop index record_0_scope");
  await declare("many", { "sat:orbit": { type: "string" } });
  await waitUntil("the index of places", async () => {
    const { rows } = await client.query("select 1 from pg_indexes where indexname = 'record_0_scope'");
    return rows.length === 1;
  });
});

test("a wrong declaration says what is wrong, and collections of workspaces get no index in the table of all", async () => {
  for (const [properties, rule] of [
    [undefined, /\/properties must be an object/],
    [["a"], /\/properties must be an object/],
    [{ a: true }, /\/properties\/a must be an object/],
    [{ "": { type: "string" } }, /is no name/],
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, {}])), /at most 100/],
  ] as const) {
    const { status, text } = await declare("many", properties);
    assert.equal(status, 400, text);
    assert.match(text, rule);
  }
  assert.equal((await declare("missing", {})).status, 404);
  await declare("many", {});
  await waitUntil("no index", async () => (await listIndexes()).length === 0);
  await request("POST", "/stac/collections?workspace=ws", { body: makeCollection("theirs") });
  assert.equal((await declare("theirs", { "sat:orbit": { type: "string" } })).status, 204);
  await declare("many", { acquired: { type: "string", format: "date-time" } });
  await waitUntil("the other index", async () => (await listIndexes()).length > 0);
  assert.equal((await listIndexes()).length, 1);
});
