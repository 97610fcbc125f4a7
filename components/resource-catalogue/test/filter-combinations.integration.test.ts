import assert from "node:assert/strict";
import { after, test } from "node:test";

import pg from "pg";

import { compileFilter } from "../query/compile-filter.ts";
import { FilterError } from "../query/expression.ts";
import { SqlParameters } from "../query/sql.ts";
import { type Combination, combineAll } from "./filter-combinations.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

/** Conditions of one statement. */
const BATCH = 150;
/** A value of a record or of the filter that the operator cannot work with: the search answers 400. */
const IS_VALUE = /^22/;

const catalogue = await startCatalogue();
const { request } = catalogue;
const client = new pg.Client({ connectionString: catalogue.postgres.url, options: "-c search_path=catalogue,public" });
await client.connect();
after(async () => {
  await client.end();
  await catalogue.close();
});
await request("POST", "/stac/collections", { body: makeCollection("combined") });
const properties = {
  ...(makeItem("x")["properties"] as object),
  title: "a",
  amount: 10,
  built: "2024-01-01",
  flag: true,
};
for (const [id, more] of [
  ["a", { keywords: ["a", "b"] }],
  ["b", { title: "A big one", amount: -1.5, flag: false, built: null, keywords: [] }],
  [
    "c",
    { title: "7", amount: "ten", built: { at: 1 }, keywords: ["7"], mixed: [1, { a: 1 }], "eo:cloud_cover": undefined },
  ],
  [
    "d",
    {
      title: undefined,
      amount: undefined,
      datetime: null,
      start_datetime: "2024-01-01T00:00:00Z",
      end_datetime: "2025-01-01T00:00:00Z",
    },
  ],
] as const) {
  const { status, text } = await request("POST", "/stac/collections/combined/items", {
    body: makeItem(id, { properties: { ...properties, ...more } }),
  });
  assert.equal(status, 201, text);
}

test("every operator with all kinds of operands is refused with a reason, or is SQL that PostgreSQL carries out", async () => {
  const faults: string[] = [];
  const counts = { all: 0, refused: 0, run: 0 };
  let batch: Combination[] = [];
  for (const combination of combineAll()) {
    counts.all += 1;
    try {
      compileFilter(combination.filter, { parameters: new SqlParameters() });
      batch.push(combination);
    } catch (error) {
      counts.refused += 1;
      if (!(error instanceof FilterError) || error.message.length > 400) {
        faults.push(`${combination.name}: ${String(error).slice(0, 200)}`);
      }
    }
    if (batch.length === BATCH) {
      counts.run += batch.length;
      faults.push(...(await findFaults(batch)));
      batch = [];
    }
  }
  counts.run += batch.length;
  faults.push(...(await findFaults(batch)));
  assert.deepEqual(faults.slice(0, 40), [], `${faults.length} of ${counts.all}`);
  assert.ok(counts.all >= 100_000 && counts.run >= 2_000, JSON.stringify(counts));
});

/** Carries out all conditions at once; each half of them where one is at fault. */
async function findFaults(batch: readonly Combination[]): Promise<string[]> {
  if (batch.length === 0) {
    return [];
  }
  const parameters = new SqlParameters();
  const columns = batch.map(({ filter }, index) => `(${compileFilter(filter, { parameters })}) is true as c${index}`);
  try {
    await client.query(`select ${columns.join(", ")} from record r`, parameters.values as unknown[]);
    return [];
  } catch (error) {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      return IS_VALUE.test((error as { code?: string }).code ?? "") ? [] : [`${only.name}: ${String(error)}`];
    }
    const half = Math.ceil(batch.length / 2);
    return [...(await findFaults(batch.slice(0, half))), ...(await findFaults(batch.slice(half)))];
  }
}
