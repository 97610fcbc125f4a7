import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

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

test(
  "a load that a deadlock breaks off is not gone on with: nothing is stored, and the client is told",
  { timeout: 120_000 },
  async () => {
    const { port } = new URL(catalogue.url);
    const loading = httpRequest({
      port,
      method: "POST",
      path: "/stac/collections/bulk/items.ndjson",
      headers: { "content-type": "application/x-ndjson" },
    });
    const answered = once(loading, "response") as Promise<[IncomingMessage]>;
    const other = new pg.Client({ connectionString: catalogue.postgres.url });
    await other.connect();
    // Only the load finds out, and is broken off.
    await other.query("set search_path = catalogue; set deadlock_timeout = '10min'; begin");
    const take = (id: string): Promise<unknown> =>
      other.query(
        "insert into record_key (id, collection, is_collection, part) select $1, key, false, 0 from collection where id = 'bulk'",
        [id],
      );
    await take("line-32000");
    // More than is gathered before it is written; the other writer comes to wait for it.
    loading.write(`${lines(20_000, 29_000)}\n`);
    await waitUntil(async () => {
      const { rows } = await other.query(
        "select from pg_stat_activity where state = 'idle in transaction' and pid <> pg_backend_pid()",
      );
      return rows.length > 0;
    });
    const waiting = take("line-20000");
    await sleep(300);
    loading.end(lines(29_000, 33_000));
    const [response] = await answered;
    assert.equal(response.statusCode, 503);
    assert.equal(response.headers["retry-after"], "1");
    response.resume();
    await waiting;
    await other.query("rollback");
    await other.end();
    assert.equal((await request("GET", "/stac/collections/bulk/items/line-20000")).status, 404);
    assert.equal((await request("GET", "/stac/collections/bulk/items/line-32999")).status, 404);
  },
);

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (await isSo()) {
      return;
    }
    await sleep(50);
  }
  throw new Error("waited in vain");
}

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
