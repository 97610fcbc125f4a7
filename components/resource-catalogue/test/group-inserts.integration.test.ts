import assert from "node:assert/strict";
import { after, test } from "node:test";

import pg from "pg";

import { itemToRecord } from "../model/from-stac.ts";
import { OWN_COLUMNS, type PreparedRecord, prepareRecordCells } from "../store/record-columns.ts";
import { openCatalogueDatabase } from "../store/database.ts";
import { GroupInserts } from "../store/group-inserts.ts";
import { inTransaction } from "../store/transaction.ts";
import { lockForLoading } from "../store/load-lock.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

// Errors of connections that are broken on purpose are not shown.
const catalogue = await startCatalogue({ LOG_LEVEL: "fatal" });
const { request, postgres } = catalogue;
const database = await openCatalogueDatabase({ url: postgres.url, onError: () => {} });
const { pool } = database;
after(async () => {
  await database.close();
  await catalogue.close();
});

const post = (collection: string, body: unknown) => request("POST", `/stac/collections/${collection}/items`, { body });

async function makeCollectionNamed(id: string): Promise<number> {
  const { status, text } = await request("POST", "/stac/collections", { body: makeCollection(id) });
  assert.equal(status, 201, text);
  const { rows } = await pool.query<{ key: number }>("select key from collection where id = $1", [id]);
  return rows[0]?.key as number;
}

async function idsIn(key: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from record where collection = $1 and kind = 'i' order by id",
    [key],
  );
  return rows.map(({ id }) => id);
}

function prepare(id: string, collection: string): PreparedRecord {
  const item = makeItem(id);
  return prepareRecordCells(itemToRecord(JSON.stringify(item), item, collection));
}

test("records that are there together are written together", async () => {
  const key = await makeCollectionNamed("together");
  const inserts = new GroupInserts(pool);
  const written = await Promise.all(
    Array.from({ length: 62 }, (_, index) => inserts.insert(prepare(`t-${index}`, "together"), key)),
  );
  assert.equal(new Set(written.map(({ n }) => n)).size, 62);
  const { rows } = await pool.query("select from change where collection = 'together' and not is_collection");
  // Each of the first two finds nothing to wait for; the other sixty are groups of 16, 16, 16, 8 and 4.
  assert.equal(rows.length, 7);
});

test("what arrives together, good and bad: each client hears of its own item", async () => {
  const [one, two] = [await makeCollectionNamed("mixed-1"), await makeCollectionNamed("mixed-2")];
  assert.equal((await post("mixed-1", makeItem("there"))).status, 201);
  const good = Array.from({ length: 60 }, (_, index) => `good-${String(index).padStart(2, "0")}`);
  const [goods, bads, twins, existing, lost] = await Promise.all([
    Promise.all(good.map((id, index) => post(`mixed-${(index % 2) + 1}`, makeItem(id)))),
    Promise.all(Array.from({ length: 10 }, (_, index) => post("mixed-1", makeItem(`bad-${index}`, { bbox: [1] })))),
    Promise.all(Array.from({ length: 8 }, () => post("mixed-1", makeItem("twin")))),
    Promise.all(Array.from({ length: 5 }, () => post("mixed-1", makeItem("there")))),
    Promise.all(Array.from({ length: 5 }, (_, index) => post("mixed-3", makeItem(`lost-${index}`)))),
  ]);
  for (const [index, response] of goods.entries()) {
    assert.equal(response.status, 201, response.text);
    assert.equal(response.body.id, good[index]);
    assert.match(response.headers.get("etag") ?? "", /^"\d+-1"$/);
  }
  assert.deepEqual(new Set(bads.map(({ status }) => status)), new Set([400]));
  assert.deepEqual(
    twins.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409, 409, 409, 409],
  );
  assert.deepEqual(new Set(existing.map(({ status }) => status)), new Set([409]));
  assert.deepEqual(new Set(lost.map(({ status }) => status)), new Set([404]));
  const even = good.filter((_, index) => index % 2 === 0);
  assert.deepEqual(await idsIn(one), [...even, "there", "twin"].sort());
  assert.deepEqual(
    await idsIn(two),
    good.filter((id) => !even.includes(id)),
  );
  const { rows } = await pool.query<{ ids: string[] }>(
    "select ids from change where collection like 'mixed-%' and not is_collection",
  );
  assert.deepEqual(rows.flatMap(({ ids }) => ids).sort(), [...good, "there", "twin"].sort());
});

test("an item that PostgreSQL refuses fails none of its neighbours", async () => {
  const key = await makeCollectionNamed("poison");
  const inserts = new GroupInserts(pool);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => {
      const record = prepare(`p-${String(index).padStart(2, "0")}`, "poison");
      const cells = [...(record.cells as readonly (string | number | null)[])];
      // Its properties are no JSON.
      return inserts.insert(
        index % 10 === 3 ? { ...record, cells: cells.with(OWN_COLUMNS.indexOf("properties"), "{") } : record,
        key,
      );
    }),
  );
  assert.deepEqual(
    outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : [])),
    [3, 13, 23, 33, 43],
  );
  assert.equal((await idsIn(key)).length, 45);
});

test("items of a collection that is being loaded, and of others beside them, do not wait for the load", async () => {
  const [loading, other] = [await makeCollectionNamed("loading"), await makeCollectionNamed("beside")];
  const inserts = new GroupInserts(pool);
  await inTransaction(pool, async (client) => {
    await lockForLoading(client, loading, "exclusive");
    const keys = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? loading : other));
    const written = await Promise.all(keys.map((key, index) => inserts.insert(prepare(`l-${index}`, "x"), key)));
    assert.equal(written.length, 40);
  });
  assert.equal((await idsIn(loading)).length, 20);
  assert.equal((await idsIn(other)).length, 20);
});

test("a collection that is deleted and made again takes items at once, and none of the old ones", async () => {
  await makeCollectionNamed("again");
  assert.equal((await post("again", makeItem("old"))).status, 201);
  // As another replica would: this service does not hear of it.
  await pool.query("delete from record where collection = (select key from collection where id = 'again')");
  await pool.query("delete from record_key where collection = (select key from collection where id = 'again')");
  await pool.query("delete from collection where id = 'again'");
  assert.equal((await post("again", makeItem("lost"))).status, 404);
  await makeCollectionNamed("again");
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post("again", makeItem(`new-${index}`))),
  );
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
});

test("connections that break amid groups: what was acknowledged is there, once, and told to followers", async () => {
  const key = await makeCollectionNamed("broken");
  const admin = new pg.Client(postgres.url);
  await admin.connect();
  const acknowledged: string[] = [];
  let isOver = false;
  let next = 0;
  const writers = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      const id = `x-${String((next += 1)).padStart(6, "0")}`;
      const { status } = await post("broken", makeItem(id));
      assert.ok(status === 201 || status >= 500, String(status));
      if (status === 201) {
        acknowledged.push(id);
      }
    }
  });
  let ended = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 20) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { rows } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%insert-group%' and pid <> pg_backend_pid()`,
    );
    ended += rows.length;
  }
  isOver = true;
  await Promise.all(writers);
  await admin.end();
  assert.ok(ended > 0);
  const stored = await idsIn(key);
  assert.equal(new Set(stored).size, stored.length);
  assert.deepEqual(
    acknowledged.filter((id) => !stored.includes(id)),
    [],
  );
  const { rows } = await pool.query<{ id: string }>(
    "select unnest(ids) as id from change where collection = 'broken' and not is_collection order by id",
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    stored,
  );
});
