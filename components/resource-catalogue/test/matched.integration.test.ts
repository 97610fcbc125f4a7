import assert from "node:assert/strict";
import { test } from "node:test";

import pg from "pg";

import { type CatalogueFixture, makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const CSW = "/csw?service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record&resultType=results";

/** How many records each protocol says there are. */
async function readMatched({ request }: CatalogueFixture) {
  const csw = await request("GET", `${CSW}&maxRecords=3`);
  const later = await request("GET", `${CSW}&maxRecords=3&startPosition=31`);
  const feed = await request("GET", "/opensearch/search?count=3&f=atom");
  const stac = await request("GET", "/stac/search?limit=3");
  return {
    csw: Number(/numberOfRecordsMatched="(\d+)"/.exec(csw.text)?.[1]),
    later: Number(/numberOfRecordsMatched="(\d+)"/.exec(later.text)?.[1]),
    feed: Number(/totalResults>(\d+)</.exec(feed.text)?.[1]),
    stac: stac.body.numberMatched as number,
    isLowerBound: stac.body.numberMatchedIsLowerBound as boolean | undefined,
  };
}

async function startWithItems(environment: Readonly<Record<string, string>>): Promise<CatalogueFixture> {
  const catalogue = await startCatalogue(environment);
  await catalogue.request("POST", "/stac/collections", { body: makeCollection("many") });
  const features = Array.from({ length: 60 }, (_, index) => makeItem(`item-${index}`));
  const made = await catalogue.request("POST", "/stac/collections/many/items", {
    body: { type: "FeatureCollection", features },
  });
  assert.ok(made.status < 300, made.text);
  return catalogue;
}

test("CSW and OpenSearch say how many there are, also beyond what a STAC search counts", async () => {
  const catalogue = await startWithItems({ MATCHED_CAP: "10" });
  try {
    const { csw, later, feed, stac, isLowerBound } = await readMatched(catalogue);
    // The collection is a record as well.
    assert.deepEqual([csw, later, feed], [61, 61, feed]);
    assert.ok(feed >= 60, String(feed));
    assert.deepEqual([stac, isLowerBound], [10, true]);
  } finally {
    await catalogue.close();
  }
});

test("beyond their own cap they give an estimate, and never less than was seen", async () => {
  const catalogue = await startWithItems({ MATCHED_CAP: "10", HARVEST_MATCHED_CAP: "10" });
  try {
    const client = new pg.Client({ connectionString: catalogue.postgres.url });
    await client.connect();
    await client.query("analyze");
    await client.end();
    const { csw, later } = await readMatched(catalogue);
    assert.ok(csw >= 30 && csw <= 120, `about 61, not ${csw}`);
    assert.ok(later >= 34, String(later));
  } finally {
    await catalogue.close();
  }
});
