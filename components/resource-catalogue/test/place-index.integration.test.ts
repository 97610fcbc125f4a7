import assert from "node:assert/strict";
import { after, test } from "node:test";

import { OPERATOR } from "../access/reader.ts";
import { compilePage } from "../query/compile-search.ts";
import { parseBbox } from "../query/places.ts";
import { openCatalogueDatabase } from "../store/database.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
const database = await openCatalogueDatabase({ url: catalogue.postgres.url, onError: () => {} });
after(async () => {
  await database.close();
  await catalogue.close();
});

const COLUMNS = 40;
const COLLECTIONS = ["p-0", "p-1", "p-2", "p-3"];

/** Items a degree apart: in every collection one at each place. */
const makeLines = (collection: string): string =>
  Array.from({ length: COLUMNS * COLUMNS }, (_, index) => {
    const [west, south] = [index % COLUMNS, Math.floor(index / COLUMNS)];
    const geometry = { type: "Point", coordinates: [west, south] };
    return JSON.stringify(makeItem(`${collection}-${west}-${south}`, { geometry, bbox: [west, south, west, south] }));
  }).join("\n");

test("a place within a collection is looked up in an index of both, and finds what is there", async () => {
  for (const id of COLLECTIONS) {
    await request("POST", "/stac/collections", { body: makeCollection(id) });
    const { status, text } = await request("POST", `/stac/collections/${id}/items.ndjson`, {
      body: makeLines(id),
      headers: { "content-type": "application/x-ndjson" },
    });
    assert.equal(status, 201, text);
  }
  await database.pool.query("analyze record");
  const place = parseBbox([9.5, 9.5, 12.5, 11.5]);
  const { text, values } = compilePage(
    { reader: OPERATOR, kinds: ["i", "r"], collections: ["p-2"], place, limit: 10, countUpTo: 1000 },
    true,
  );
  const { rows } = await database.pool.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...values]);
  assert.match(rows.map((row) => row["QUERY PLAN"]).join("\n"), /record_0_scope/);
  const { body } = await request("GET", "/stac/search?collections=p-2&bbox=9.5,9.5,12.5,11.5");
  assert.deepEqual(body.features.map(({ id }: { id: string }) => id).sort(), [
    "p-2-10-10",
    "p-2-10-11",
    "p-2-11-10",
    "p-2-11-11",
    "p-2-12-10",
    "p-2-12-11",
  ]);
  assert.equal(body.numberMatched, 6);
});
