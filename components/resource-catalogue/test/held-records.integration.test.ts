import assert from "node:assert/strict";
import { after, test } from "node:test";

import pg from "pg";

import { DC_RECORD, toTransaction } from "./csw-records.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue({ LOG_LEVEL: "fatal" });
const { request, postgres } = catalogue;
const holder = new pg.Client({ connectionString: postgres.url });
await holder.connect();
await holder.query("set search_path = catalogue, public");
after(async () => {
  await holder.end();
  await catalogue.close();
});

const ITEMS = "/stac/collections/held/items";

test("a single write that a load holds up is refused for a while, and holds up nobody else", async (t) => {
  assert.equal((await request("POST", "/stac/collections", { body: makeCollection("held") })).status, 201);
  assert.equal((await request("POST", "/stac/collections", { body: makeCollection("free") })).status, 201);
  assert.equal((await request("POST", ITEMS, { body: makeItem("stored") })).status, 201);
  const { rows } = await holder.query<{ key: number }>("select key from collection where id = 'held'");
  const key = rows[0]?.key;
  // As a load does that has written a batch, and whose client takes its time.
  await holder.query("begin");
  t.after(() => holder.query("rollback"));
  await holder.query("select pg_advisory_xact_lock(hashtext('catalogue load'), $1)", [key]);
  await holder.query("select from collection where key = $1 for key share", [key]);
  await holder.query("select from record_key where id = 'stored' for update");
  await holder.query("insert into record_key (id, collection, is_collection, part) values ('new', $1, false, 0)", [
    key,
  ]);

  const stored = `${ITEMS}/stored`;
  const patch = { properties: { platform: "other" } };
  const held = {
    // First: it waits for longer than the collection is known to be held after the others gave up.
    batch: () =>
      request("POST", ITEMS, { body: { type: "FeatureCollection", features: ["a", "b"].map((id) => makeItem(id)) } }),
    put: () => request("PUT", stored, { body: makeItem("stored") }),
    patch: () => request("PATCH", stored, { body: patch, headers: { "content-type": "application/merge-patch+json" } }),
    delete: () => request("DELETE", stored),
    post: () => request("POST", ITEMS, { body: makeItem("new") }),
    "delete the collection": () => request("DELETE", "/stac/collections/held"),
  };
  for (const [name, send] of Object.entries(held)) {
    const { status, headers, text } = await send();
    assert.equal(status, 503, `${name}: ${text}`);
    assert.ok(Number(headers.get("retry-after")) >= 1, name);
    assert.match(text, /under way/, name);
  }

  // More of the same than there are connections, of each kind.
  const waiting = Promise.all(
    Array.from({ length: 36 }, (_, index) => [held.post, held.put, held.delete][index % 3]?.() ?? held.post()),
  );
  for (let index = 0; index < 10; index += 1) {
    const other = await request("POST", "/stac/collections/free/items", { body: makeItem(`other-${index}`) });
    assert.equal(other.status, 201, other.text);
  }
  await holder.query("rollback");
  const responses = await waiting;
  assert.ok(responses.every(({ status }) => [200, 201, 204, 404, 409, 503].includes(status)));
  const refused = responses.filter(({ status }) => status === 503);
  assert.ok(refused.length >= 36 - 16 - 5, "no more wait than may, and those that had begun");
  assert.ok(refused.every(({ headers }) => Number(headers.get("retry-after")) >= 1));
  const again = await request("POST", ITEMS, { body: makeItem("again") });
  assert.equal(again.status, 201, "it is written as soon as nothing holds it");
});

test("a CSW transaction that a load of records holds up is refused for a while", async (t) => {
  await holder.query("begin");
  t.after(() => holder.query("rollback"));
  await holder.query(
    "select pg_advisory_xact_lock(hashtext('catalogue load'), key) from collection where id = 'metadata:main'",
  );
  const { status, headers, text } = await request("POST", "/csw", {
    headers: { "content-type": "application/xml" },
    body: toTransaction("Insert", DC_RECORD),
  });
  assert.equal(status, 503, text);
  assert.equal(headers.get("retry-after"), "10");
  assert.match(text, /Another load of this collection is under way/);
});
