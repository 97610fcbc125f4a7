import assert from "node:assert/strict";
import { after, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";

import { itemToRecord } from "../model/from-stac.ts";
import type { NewRecord } from "../model/record.ts";
import { OWN_COLUMNS } from "../store/record-columns.ts";
import { openCatalogueDatabase } from "../store/database.ts";
import { type Written, writeRecords } from "../store/write-records.ts";
import { makeItem } from "./fixture.ts";

const postgres = await startTestServer();
const { pool, close } = await openCatalogueDatabase({ url: postgres.url, onError: () => {} });
after(async () => {
  await close();
  await postgres.close();
});

const ring = (west: number, south: number, size: number): number[][] => [
  [west, south],
  [west + size, south],
  [west + size, south + size / 3],
  [west, south + size],
  [west, south],
];

function toRecord(id: string, item: Readonly<Record<string, unknown>>, properties: object = {}): NewRecord {
  const value = makeItem(id, item) as { properties: object };
  const whole = { ...value, properties: { ...value.properties, ...properties } };
  return itemToRecord(JSON.stringify(whole), whole, "same");
}

const RECORDS: readonly NewRecord[] = [
  toRecord("plain", {}),
  toRecord("no-place", { geometry: null }),
  toRecord("point", { geometry: { type: "Point", coordinates: [1e-7, -89.12345678901234] } }),
  toRecord("box", {
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [1, 2],
          [3, 2],
          [3, 4],
          [1, 4],
          [1, 2],
        ],
      ],
    },
  }),
  toRecord("hole", { geometry: { type: "Polygon", coordinates: [ring(10, 10, 9), ring(12, 11, 1), ring(15, 11, 1)] } }),
  toRecord("parts", {
    geometry: {
      type: "MultiPolygon",
      coordinates: [[ring(0.1, 0.2, 1 / 3)], [ring(40, 50, 0.7), ring(40.1, 50.1, 0.2)]],
    },
  }),
  toRecord("across", { geometry: { type: "Polygon", coordinates: [ring(175, -10, 12)] } }),
  toRecord("heights", {
    geometry: {
      type: "LineString",
      coordinates: [
        [1, 2, -11_000.5],
        [3, 4, 8848.86],
      ],
    },
  }),
  toRecord(
    "out-of-range",
    {
      geometry: {
        type: "LineString",
        coordinates: [
          [1, 2, -1e300],
          [3, 4, 1e-300],
        ],
      },
    },
    { "eo:cloud_cover": 1e39 },
  ),
  toRecord(
    "times",
    {},
    { datetime: null, start_datetime: "0001-01-01T00:00:00.000001Z", end_datetime: "9999-12-31T23:59:59.999999Z" },
  ),
  toRecord("before-1970", {}, { datetime: "1969-12-31T23:59:59.123456Z" }),
  toRecord("before-2000", {}, { datetime: "1999-12-31T23:59:59.9999999+01:00" }),
  toRecord(
    "texts",
    {},
    { title: "Ünïcode 北京 Ελλάδα 🛰 tab\there \\ back\\nslash 'quoted' \"twice\" line\nend", "eo:cloud_cover": 12.34 },
  ),
  toRecord("Ümlaut-ß", { collection: "same", links: [{ rel: "license", href: "https://example.org/北京\\N" }] }),
  toRecord(
    "words",
    {},
    {
      title: "again and again ".repeat(300),
      description: "end of it ".repeat(9000),
      keywords: ["", "\\N", "a".repeat(500)],
    },
  ),
  toRecord(
    "numbers",
    {},
    { "eo:cloud_cover": 33.3, big: 1.2345678901234568e20, small: -1.5e-9, nested: [[], {}, null, true] },
  ),
  { ...toRecord("no-time", {}), kind: "r", time: undefined as never },
  { ...toRecord("no-words", {}), words: "" },
  {
    ...toRecord("open", {}),
    kind: "r",
    time: { at: "2020-02-29T12:00:00.000000Z", start: "2020-02-29T12:00:00.000000Z", end: "infinity" },
  },
  { ...toRecord("always", {}), kind: "r", time: { at: "-infinity", start: "-infinity", end: "infinity" } },
  {
    ...toRecord("source", {}),
    kind: "r",
    format: "iso",
    source: { bytes: Buffer.from([0, 1, 127, 128, 255]), type: "application/xml" },
  },
  {
    ...toRecord("empty-source", {}),
    kind: "r",
    format: "dc",
    source: { bytes: Buffer.alloc(0), type: "application/xml" },
  },
];

test("what is copied is what an INSERT writes, column by column", async () => {
  const columns = OWN_COLUMNS.map((column) => `${column}::text`).join(", ");
  const read = async (key: number): Promise<Record<string, unknown>[]> =>
    (
      await pool.query<Record<string, unknown>>(
        `select ${columns}, version, made_at = changed_at as is_new, extract(milliseconds from changed_at)::text as changed
         from record where collection = $1 order by n`,
        [key],
      )
    ).rows;
  const [single, copied] = await Promise.all(["single", "copied"].map(makeCollection));
  const written: Written[] = [];
  for (const record of RECORDS) {
    written.push(...(await writeRecords(pool, [record], { mode: "insert", collection: single as number })));
  }
  const together = await writeRecords(pool, RECORDS, { mode: "insert", collection: copied as number });
  assert.equal(together.length, written.length);
  const rows = await read(copied as number);
  const byId = new Map((await read(single as number)).map((row) => [row["id"], row]));
  assert.equal(rows.length, RECORDS.length);
  for (const { changed, ...row } of rows) {
    const { changed: _, ...other } = byId.get(row["id"]) ?? {};
    assert.deepEqual(row, other);
    assert.equal(Number(changed) / 1000, ((together[0]?.at.getTime() ?? 0) % 60_000) / 1000);
  }
});

test("records that are replaced keep when they were made", async () => {
  const key = await makeCollection("again");
  await writeRecords(pool, RECORDS, { mode: "insert", collection: key });
  const { rows: before } = await pool.query<{ made: string }>(
    "select id, n, made_at::text as made from record where collection = $1 order by n",
    [key],
  );
  await writeRecords(pool, RECORDS, { mode: "upsert", collection: key });
  const { rows: afterwards } = await pool.query<{ made: string }>(
    "select id, n, made_at::text as made from record where collection = $1 and version = 2 and changed_at > made_at order by n",
    [key],
  );
  assert.deepEqual(afterwards, before);
});

async function makeCollection(id: string): Promise<number> {
  const { rows } = await pool.query<{ key: number }>(
    "insert into collection (id, is_public) values ($1, true) returning key",
    [id],
  );
  return rows[0]?.key as number;
}
