import assert from "node:assert/strict";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";
import pg from "pg";

import { OPERATOR } from "../access/reader.ts";
import { openCatalogueDatabase } from "../store/database.ts";
import { CountMemory } from "../store/count-memory.ts";
import { PartMap } from "../store/partitions/part-map.ts";
import { searchRecords } from "../store/search.ts";
import { StatementNames } from "../store/statement-names.ts";
import { RecordStatistics } from "../store/statistics.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";
import { checkPlaces } from "./partition-checks.ts";

const SIZE = 1000;
const catalogue = await startCatalogue({ PARTITION_RECORDS: String(SIZE) });
const { request } = catalogue;
const client = new pg.Client({ connectionString: catalogue.postgres.url, options: "-c search_path=catalogue,public" });
await client.connect();
const database = await openCatalogueDatabase({ url: catalogue.postgres.url, onError: () => {} });
after(async () => {
  await database.close();
  await client.end();
  await catalogue.close();
});

const DAY = 86_400_000;
const FIRST = Date.UTC(2016, 0, 1);
const timeOf = (day: number): string => new Date(FIRST + day * DAY).toISOString();

/** An item of a day, at a place that depends on it. */
const makeDaily = (id: string, day: number, properties: object = {}): object => {
  const [west, south] = [(day % 300) - 150, (day % 120) - 60];
  return makeItem(id, {
    geometry: { type: "Point", coordinates: [west, south] },
    bbox: [west, south, west, south],
    properties: { datetime: timeOf(day), "eo:cloud_cover": day % 100, title: `day${day % 7}`, ...properties },
  });
};

async function load(collection: string, items: readonly object[], method = "insert"): Promise<void> {
  const { status, text } = await request("POST", `/stac/collections/${collection}/items.ndjson?method=${method}`, {
    body: items.map((item) => JSON.stringify(item)).join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  assert.equal(status, 201, text);
}

interface PartRow {
  readonly number: number;
  readonly is_retired: boolean;
  readonly count: number;
}

/** Parts of a collection with how many records of it are in them, that which is common to all first. */
async function readParts(collection: string): Promise<readonly PartRow[]> {
  const { rows } = await client.query<PartRow>(
    `select p.number, p.is_retired, (select count(*)::int from record r where r.part = p.number and r.collection = c.key and r.kind <> 'c') as count
     from collection c join part p on p.collection = c.key or p.number = 0 where c.id = $1 order by p.number`,
    [collection],
  );
  return rows;
}

/** Waits until all records of a collection that may be elsewhere have left the common part. */
const waitForDivision = (collection: string, left: number): Promise<boolean> =>
  waitUntil(`${collection} to be divided`, async () => {
    const parts = await readParts(collection);
    return parts.length > 1 && parts[0]?.count === left && parts.every(({ is_retired: isRetired }) => !isRetired);
  });

async function search(parameters: Readonly<Record<string, string>>): Promise<{ ids: string[]; matched: number }> {
  const { status, text, body } = await request("GET", `/stac/search?${new URLSearchParams(parameters).toString()}`);
  assert.equal(status, 200, text);
  return { ids: body.features.map(({ id }: { id: string }) => id), matched: body.numberMatched };
}

const ITEMS = 3200;

test("a collection that has become large is divided by time while it is read; nothing is missed, and nothing is there twice", async () => {
  await request("POST", "/stac/collections", { body: makeCollection("many") });
  await request("POST", "/stac/collections", { body: makeCollection("few") });
  await load("few", [makeDaily("few-1", 100), makeDaily("few-2", 2000)]);
  await load(
    "many",
    Array.from({ length: ITEMS }, (_, day) => makeDaily(`day-${day}`, day)),
  );
  // From the oldest on, while records move.
  const seen: string[] = [];
  let path = "/stac/search?collections=many&limit=50&sortby=%2Bdatetime";
  while (path !== "") {
    const { status, text, body } = await request("GET", path);
    assert.equal(status, 200, text);
    seen.push(...body.features.map(({ id }: { id: string }) => id));
    const next = body.links.find(({ rel }: { rel: string }) => rel === "next")?.href ?? "";
    path = next === "" ? "" : next.slice(next.indexOf("/stac/"));
  }
  assert.deepEqual(
    seen,
    Array.from({ length: ITEMS }, (_, day) => `day-${day}`),
  );
  await waitForDivision("many", 0);
  const parts = await readParts("many");
  assert.equal(parts.length, 5);
  assert.ok(
    parts.slice(1).every(({ count }) => count > SIZE / 2 && count <= SIZE),
    JSON.stringify(parts),
  );
  await checkPlaces(client);
  assert.deepEqual(
    (await readParts("few")).map(({ count }) => count),
    [2],
  );
});

test("searches find the same in all parts, in some, and in collections that share one", async () => {
  const days = (from: number, to: number): string => `${timeOf(from)}/${timeOf(to)}`;
  assert.deepEqual(await search({ collections: "many", datetime: days(1000, 1003) }), {
    ids: ["day-1003", "day-1002", "day-1001", "day-1000"],
    matched: 4,
  });
  assert.deepEqual((await search({ datetime: days(2000, 2001) })).ids.sort(), ["day-2000", "day-2001", "few-2"]);
  assert.deepEqual((await search({ collections: "few" })).ids, ["few-2", "few-1"]);
  assert.equal((await search({ collections: "many,few", datetime: days(0, ITEMS) })).matched, 1000);
  assert.deepEqual((await search({ collections: "many", limit: "3" })).ids, ["day-3199", "day-3198", "day-3197"]);
  assert.deepEqual(
    (await search({ collections: "many", datetime: days(300, 1000), bbox: "-150.5,-90,-148.5,90" })).ids,
    ["day-901", "day-900", "day-601", "day-600", "day-301", "day-300"],
  );
  assert.deepEqual(
    (await search({ collections: "many", datetime: days(700, 720), q: "day3", filter: "eo:cloud_cover < 10" })).ids,
    ["day-703"],
  );
  assert.deepEqual((await search({ ids: "day-5,day-3000,few-1" })).ids, ["day-3000", "few-1", "day-5"]);
  const item = await request("GET", "/stac/collections/many/items/day-1234");
  assert.equal(item.body.properties.datetime, timeOf(1234));
});

test("pages in the order of time go from part to part, in both directions, and end where a filter finds no more", async () => {
  for (const [sortby, expected] of [
    ["-datetime", Array.from({ length: 46 }, (_, index) => `day-${3150 - index * 70}`)],
    ["+datetime", Array.from({ length: 46 }, (_, index) => `day-${index * 70}`)],
  ] as const) {
    const filter = "title = 'day0' AND \"eo:cloud_cover\" IN (0, 10, 20, 30, 40, 50, 60, 70, 80, 90)";
    const query = new URLSearchParams({ collections: "many", limit: "7", sortby, filter }).toString();
    const follow = async (from: string, rel: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let path = from; path !== "";) {
        const { status, text, body } = await request("GET", path);
        assert.equal(status, 200, text);
        const page = body.features.map(({ id }: { id: string }) => id);
        ids.splice(rel === "next" ? ids.length : 0, 0, ...page);
        const href: string = body.links.find((link: { rel: string }) => link.rel === rel)?.href ?? "";
        last = path;
        path = href === "" ? "" : href.slice(href.indexOf("/stac/"));
      }
      return ids;
    };
    let last = "";
    assert.deepEqual(await follow(`/stac/search?${query}`, "next"), expected);
    assert.deepEqual(await follow(last, "prev"), expected);
  }
});

test("parts of collections that a reader may not see are no part of a search; a change of that is heard of", async () => {
  const parts = new PartMap(database.pool, () => {});
  await parts.refresh();
  const anybody = { isOperator: false, workspaces: new Map() };
  const count = (): number | undefined => parts.select({ reader: anybody, kinds: ["i", "r"] })?.numbers.length;
  assert.equal(count(), undefined);
  assert.equal(parts.select({ reader: OPERATOR, kinds: ["c"] })?.numbers.length, 1);
  await request("PUT", "/stac/collections/many?visibility=workspace", { body: makeCollection("many") });
  await client.query("update collection set workspace = 'ws' where id = 'many'");
  await client.query("update part_version set version = version + 1");
  await parts.refresh();
  assert.equal(count(), 1);
  await client.query("update collection set workspace = null, is_public = true where id = 'many'");
  await client.query("update part_version set version = version + 1");
});

test("what is loaded later goes where it belongs at once; single items follow", async () => {
  await load(
    "many",
    [10, 1000, 3000].map((day) => makeDaily(`later-${day}`, day + 0.5)),
  );
  assert.equal((await readParts("many"))[0]?.count, 0);
  const posted = await request("POST", "/stac/collections/many/items", { body: makeDaily("single", 1500.5) });
  assert.equal(posted.status, 201, posted.text);
  assert.equal((await readParts("many"))[0]?.count, 1);
  assert.deepEqual((await search({ collections: "many", datetime: `${timeOf(1500.2)}/${timeOf(1500.7)}` })).ids, [
    "single",
  ]);
  await checkPlaces(client);
});

test("an item whose time changes is found at its new time, and no more at the old one", async () => {
  const at = async (day: number): Promise<readonly string[]> =>
    (await search({ collections: "many", datetime: timeOf(day) })).ids;
  const put = await request("PUT", "/stac/collections/many/items/day-20", { body: makeDaily("day-20", 2500.25) });
  assert.equal(put.status, 200, put.text);
  assert.deepEqual([await at(20), await at(2500.25)], [[], ["day-20"]]);
  await load("many", [makeDaily("day-21", 2500.5), makeDaily("day-22", 22)], "upsert");
  assert.deepEqual([await at(21), await at(2500.5), await at(22)], [[], ["day-21"], ["day-22"]]);
  assert.equal((await request("DELETE", "/stac/collections/many/items/day-22")).status, 204);
  assert.deepEqual(await at(22), []);
  const { status } = await request("POST", "/stac/collections/many/items", { body: makeDaily("day-2000", 1) });
  assert.equal(status, 409);
  await checkPlaces(client);
});

test("records that last longer than those of a part are found over all of their time", async () => {
  const properties = { datetime: null, start_datetime: timeOf(5), end_datetime: timeOf(3000) };
  await load("many", [makeDaily("long", 5, properties)]);
  assert.equal((await readParts("many"))[0]?.count, 3);
  for (const day of [5, 1000.25, 3000]) {
    assert.ok((await search({ collections: "many", datetime: timeOf(day) })).ids.includes("long"), String(day));
  }
  await checkPlaces(client);
});

test("a process that knows the parts of before is told, and finds what has moved", async () => {
  const parts = new PartMap(database.pool, (error) => {
    throw error;
  });
  await parts.refresh();
  const deps = {
    pool: database.pool,
    searchPool: database.searchPool,
    names: new StatementNames(),
    statistics: new RecordStatistics(database.pool, () => {}),
    counts: new CountMemory(),
    parts,
  };
  const found = async (): Promise<number> =>
    (
      await searchRecords(deps, {
        reader: OPERATOR,
        kinds: ["i", "r"],
        collections: ["many"],
        time: { start: timeOf(1000), end: timeOf(1099) },
        limit: 5000,
        countUpTo: 1000,
      })
    ).records.length;
  const known = await found();
  assert.ok(known >= 100, String(known));
  // So many of a few months that their part is divided again.
  await load(
    "many",
    Array.from({ length: SIZE }, (_, index) => makeDaily(`dense-${index}`, 1000.25 + (index % 100) * 0.99)),
  );
  const before = (await readParts("many")).length;
  await waitUntil("another division", async () => {
    const now = await readParts("many");
    return now.length > before && now.every(({ is_retired: isRetired }) => !isRetired);
  });
  assert.equal(await found(), known + SIZE);
  await checkPlaces(client);
  const { rows } = await client.query(
    "select c.relname from pg_class c where c.relkind = 'r' and c.relname ~ '^record_[0-9]+$' and not exists (select 1 from part p where 'record_' || p.number = c.relname)",
  );
  assert.deepEqual(rows, []);
});

test("a part has the indexes of the common one, and those of queryables", async () => {
  const declared = await request("PUT", "/stac/collections/many/queryables", {
    body: { type: "object", properties: { "view:sun_elevation": { type: "number" } } },
  });
  assert.equal(declared.status, 204);
  await waitUntil("indexes of all parts", async () => {
    const { rows } = await client.query<{ names: readonly string[] }>(
      `select array_agg(regexp_replace(i.relname::text, '^record_[0-9]+', '') order by i.relname) as names from pg_index x
       join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
       where t.relname ~ '^record_[0-9]+$' and x.indisvalid group by t.relname`,
    );
    const distinct = new Set(rows.map(({ names }) => [...names].sort().join()));
    return rows.length > 5 && distinct.size === 1 && /_q_/.test([...distinct][0] ?? "");
  });
});

test("the parts of a collection go with it", async () => {
  assert.equal((await request("DELETE", "/stac/collections/many")).status, 204);
  assert.equal((await search({ datetime: `${timeOf(0)}/${timeOf(5000)}` })).matched, 2);
  // Somebody writes much: the parts are looked at again.
  await load(
    "few",
    Array.from({ length: SIZE / 4 }, (_, day) => makeDaily(`other-${day}`, day)),
  );
  await waitUntil("the tables to go", async () => {
    const { rows } = await client.query("select 1 from pg_class where relkind = 'r' and relname ~ '^record_[0-9]+$'");
    return rows.length === 1;
  });
  await checkPlaces(client);
});
