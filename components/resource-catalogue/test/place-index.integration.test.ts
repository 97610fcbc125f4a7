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
    { isCollected: true },
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

test("places across the antimeridian and at the poles are found within their collection, and in no other", async () => {
  const BOXES = {
    antimeridian: [179, -1, -179, 1],
    "east of it": [-179.9, -1, -179.5, 1],
    "north pole": [-180, 89, 180, 90],
    "south pole": [-180, -90, 180, -89],
    world: [-180, -90, 180, 90],
  };
  const geometries = {
    across: [
      [179.5, -0.5],
      [-179.5, -0.5],
      [-179.5, 0.5],
      [179.5, 0.5],
      [179.5, -0.5],
    ],
    north: [
      [0, 89],
      [1, 89],
      [1, 90],
      [0, 90],
      [0, 89],
    ],
    south: [
      [0, -90],
      [1, -90],
      [1, -89],
      [0, -89],
      [0, -90],
    ],
  };
  for (const collection of ["p-1", "p-2"]) {
    for (const [name, ring] of Object.entries(geometries)) {
      const item = makeItem(`${collection}-${name}`, {
        geometry: { type: "Polygon", coordinates: [ring] },
        bbox: name === "across" ? [179.5, -0.5, -179.5, 0.5] : [0, ring[0]?.[1] ?? 0, 1, ring[2]?.[1] ?? 0],
      });
      const { status, text } = await request("POST", `/stac/collections/${collection}/items`, { body: item });
      assert.equal(status, 201, text);
    }
  }
  for (const [name, bbox] of Object.entries(BOXES)) {
    const found = await Promise.all(
      [true, false].map(async (isCollected) => {
        const { text, values } = compilePage(
          {
            reader: OPERATOR,
            kinds: ["i", "r"],
            collections: ["p-2"],
            place: parseBbox(bbox),
            limit: 5000,
            countUpTo: 10,
          },
          { isCollected },
        );
        const { rows } = await database.pool.query<{ id: string }>(text, [...values]);
        return rows.map(({ id }) => id).sort();
      }),
    );
    assert.deepEqual(found[0], found[1], name);
    assert.ok((found[0] ?? []).length > 0, name);
    assert.ok(
      (found[0] ?? []).every((id) => id.startsWith("p-2-")),
      name,
    );
  }
});
