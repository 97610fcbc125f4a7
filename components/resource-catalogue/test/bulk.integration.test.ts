import assert from "node:assert/strict";
import { after, test } from "node:test";

import pg from "pg";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue({ MATCHED_CAP: "100000" });
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("bulk") });
const count = async (): Promise<number> =>
  (await request("GET", "/stac/search?collections=bulk&limit=1")).body.numberMatched;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => JSON.stringify(makeItem(`line-${from + index}`))).join("\n");

test("a large item collection is stored whole, each item byte for byte", async () => {
  const features = Array.from({ length: 300 }, (_, index) =>
    JSON.stringify(makeItem(`many-${index}`), null, index % 3),
  );
  const body = `{"type":"FeatureCollection","features":[${features.join(" ,\n")}]}`;
  const { status, text } = await request("POST", "/stac/collections/bulk/items", { body });
  assert.equal(status, 201, text);
  assert.equal(await count(), 300);
  assert.equal((await request("GET", "/stac/collections/bulk/items/many-7?f=source")).text, features[7]);
});

test("one bad item of many refuses all, and is named", async () => {
  const features = Array.from({ length: 300 }, (_, index) =>
    makeItem(`bad-${index}`, index === 123 ? { properties: { datetime: 7 } } : {}),
  );
  const { status, body } = await request("POST", "/stac/collections/bulk/items", {
    body: { type: "FeatureCollection", features },
  });
  assert.equal(status, 400);
  assert.match(body.description, /^\/features\/123 is not valid: \/properties\/datetime/);
  assert.equal(await count(), 300);
});

test("lines are loaded as a stream; a fault in the last of them leaves nothing", async () => {
  const headers = { "content-type": "application/x-ndjson" };
  const good = await request("POST", "/stac/collections/bulk/items.ndjson", { headers, body: lines(0, 5000) });
  assert.equal(good.status, 201, good.text);
  assert.deepEqual(good.body, { numberWritten: 5000 });
  assert.equal(await count(), 5300);
  const bad = await request("POST", "/stac/collections/bulk/items.ndjson", {
    headers,
    body: `${lines(5000, 9000)}\n{}`,
  });
  assert.equal(bad.status, 400);
  assert.match(bad.body.description, /^Line 4001 is not valid/);
  assert.equal(await count(), 5300);
  const twice = await request("POST", "/stac/collections/bulk/items.ndjson", { headers, body: lines(4999, 5001) });
  assert.equal(twice.status, 409);
  const again = await request("POST", "/stac/collections/bulk/items.ndjson?method=upsert", {
    headers,
    body: lines(4999, 5001),
  });
  assert.deepEqual(again.body, { numberWritten: 2 });
  assert.equal(await count(), 5301);
});

test("a load that PostgreSQL breaks off is not gone on with: nothing is stored, and the client is told", async () => {
  const client = new pg.Client({ connectionString: catalogue.postgres.url });
  await client.connect();
  // What a deadlock would do, once.
  await client.query(`set search_path = catalogue;
    create sequence broken_off;
    create function break_off() returns trigger language plpgsql as $$ begin
      if new.id = 'line-25000' and nextval('catalogue.broken_off') = 1 then raise exception using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger break_off before insert on record_key for each row execute function break_off()`);
  const before = await count();
  const headers = { "content-type": "application/x-ndjson" };
  const broken = await request("POST", "/stac/collections/bulk/items.ndjson", { headers, body: lines(20_000, 30_000) });
  assert.equal(broken.status, 503, broken.text);
  assert.equal(broken.headers.get("retry-after"), "1");
  assert.equal(await count(), before);
  const again = await request("POST", "/stac/collections/bulk/items.ndjson", { headers, body: lines(20_000, 30_000) });
  assert.deepEqual(again.body, { numberWritten: 10_000 });
  await client.query("drop trigger break_off on record_key; drop function break_off; drop sequence broken_off");
  await client.end();
});

test("items longer than what is sent at once are stored once, wherever they are among others", async () => {
  const before = await count();
  const sizes = [300_000, 10, 200_000, 150_000, 10, 10, 400_000];
  const features = sizes.map((size, index) =>
    makeItem(`long-${index}`, { properties: { datetime: "2024-01-01T00:00:00Z", note: "x".repeat(size) } }),
  );
  for (let round = 0; round < 2; round += 1) {
    const items = Object.fromEntries(features.map((item) => [item.id, item]));
    const { status, text } = await request("POST", "/stac/collections/bulk/bulk_items", {
      body: { method: "upsert", items },
    });
    assert.ok(status < 300, text);
    assert.equal(await count(), before + sizes.length);
    for (const [index, size] of sizes.entries()) {
      const { body } = await request("GET", `/stac/collections/bulk/items/long-${index}`);
      assert.equal(body.properties.note.length, size);
    }
  }
});

test("an item with very many keywords is stored", async () => {
  const keywords = Array.from({ length: 1_500_000 }, () => "k");
  const item = makeItem("keywords", { properties: { datetime: "2024-01-01T00:00:00Z", keywords } });
  const { status, text } = await request("POST", "/stac/collections/bulk/items", { body: item });
  assert.equal(status, 201, text.slice(0, 300));
});

test("bulk_items inserts and upserts items by their ids", async () => {
  const items = Object.fromEntries(["x", "y"].map((id) => [id, makeItem(id)]));
  assert.equal((await request("POST", "/stac/collections/bulk/bulk_items", { body: { items } })).status, 200);
  assert.equal((await request("POST", "/stac/collections/bulk/bulk_items", { body: { items } })).status, 409);
  const { status } = await request("POST", "/stac/collections/bulk/bulk_items", { body: { items, method: "upsert" } });
  assert.equal(status, 200);
});

test("a body that is too large is refused with 413", async () => {
  const body = `{"type":"FeatureCollection","features":[${"0,".repeat(17 * 2 ** 20)}0]}`;
  assert.equal((await request("POST", "/stac/collections/bulk/items", { body })).status, 413);
});
