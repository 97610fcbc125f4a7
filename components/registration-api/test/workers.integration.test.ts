import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { waitUntil } from "@swath/testing";

import { makeItem, startDocuments, startFixture } from "./fixture.ts";

// Two workers on one queue.
const fixture = await startFixture();
after(fixture.close);
const { send, callCatalogue, settle } = fixture;
await fixture.start("worker2");

const accept = async (document: unknown): Promise<string> => {
  const { status, headers } = await send("POST", "/register-json", document);
  assert.equal(status, 202);
  return headers.get("location") ?? "";
};

test("each task is carried out once, and of each record the last change is what stays", async (t) => {
  const RECORDS = 40;
  const CHANGES = 5;
  const response = new Map<string, number>();
  const source = await startDocuments((path) => {
    response.set(path, (response.get(path) ?? 0) + 1);
    return makeItem(path.slice(1), { collection: "by-address" });
  });
  t.after(source.close);
  const locations: string[] = [];
  for (let change = 1; change <= CHANGES; change += 1) {
    for (let record = 0; record < RECORDS; record += 1) {
      const properties = { datetime: "2024-06-01T10:00:00Z", change };
      locations.push(await accept(makeItem(`r${record}`, { collection: "contended", properties, assets: {} })));
    }
  }
  for (let record = 0; record < RECORDS; record += 1) {
    const { headers } = await send("POST", "/register", { type: "stac-item", url: `${source.url}/i${record}` });
    locations.push(headers.get("location") ?? "");
  }
  for (const location of locations) {
    const { body } = await settle(location);
    assert.equal(body.state, "done", JSON.stringify(body));
    assert.equal(body.attempts, 1);
  }
  const { body } = await callCatalogue("/stac/collections/contended/items?limit=100");
  assert.equal(body.features.length, RECORDS);
  for (const { id, properties } of body.features) {
    assert.equal(properties.change, CHANGES, id);
  }
  assert.deepEqual(new Set(response.values()), new Set([1]));
  assert.equal(response.size, RECORDS);
});

test("what a worker that is killed leaves is carried out by the other", async (t) => {
  const held: string[] = [];
  const source = await startDocuments((path) => makeItem(path.slice(1), { collection: "left" }));
  t.after(source.close);
  // Answers stay away for as long as the first worker lives.
  const released = Promise.withResolvers<void>();
  const slow = createServer((request, response) => {
    const name = request.url?.slice(1) ?? "";
    held.push(name);
    void released.promise.then(() =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(makeItem(name, { collection: "left" }))),
    );
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  t.after(() => slow.closeAllConnections());
  t.after(() => slow.close());
  const slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const locations: string[] = [];
  for (let number = 0; number < 6; number += 1) {
    const { headers } = await send("POST", "/register", { type: "stac-item", url: `${slowUrl}/slow${number}` });
    locations.push(headers.get("location") ?? "");
  }
  // Three each: the fourth places are for others.
  await waitUntil("all at work", () => held.length === 6);
  const waiting = await send("POST", "/register", { type: "stac-item", url: `${source.url}/waits` });
  await fixture.kill("worker");
  released.resolve();
  assert.equal((await settle(waiting.headers.get("location") ?? "")).body.state, "done");
  // The leases of the dead worker end now rather than in a minute.
  await fixture.query("update registration.task set lease_until = now() where state = 'running'");
  for (const location of locations) {
    const { body } = await settle(location);
    assert.equal(body.state, "done", JSON.stringify(body));
  }
  const { body } = await callCatalogue("/stac/collections/left/items?limit=100");
  assert.equal(body.features.length, 7);
  await fixture.start("worker");
});

test("a task that ends while the database is away is noted when it is back, not when its lease runs out", async (t) => {
  const released = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let requests = 0;
  const slow = createServer((_request, response) => {
    requests += 1;
    asked.resolve();
    void (requests === 1 ? released.promise : Promise.resolve()).then(() =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(makeItem("noted", { collection: "noted" })), () => answered.resolve()),
    );
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  t.after(() => slow.closeAllConnections());
  t.after(() => slow.close());
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/noted`;
  const { headers } = await send("POST", "/register", { type: "stac-item", url });
  await asked.promise;
  // Whoever waits for the lease waits for longer than this test may take.
  await fixture.query("update registration.task set lease_until = now() + interval '1 day' where state = 'running'");
  await fixture.kill("postgres");
  released.resolve();
  await answered.promise;
  // Time to find the database away; a worker that is slower than this meets it again, and passes as well.
  await sleep(1000);
  await fixture.start("postgres");
  const { body } = await settle(headers.get("location") ?? "");
  assert.equal(body.state, "done", JSON.stringify(body));
});
