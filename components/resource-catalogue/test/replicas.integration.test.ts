import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";
import { waitUntil } from "@swath/testing";

import { makeCollection, makeItem } from "./fixture.ts";
import { type StreamedEvent, followStream } from "./follow-stream.ts";
import { type CatalogueProcess, prepareProcess } from "./processes.ts";

// Two replicas of the service share nothing but the database. They start at the same time on an empty one.
const postgres = await startTestServer();
const one = await prepareProcess(postgres.url, { MATCHED_CAP: "20" });
const two = await prepareProcess(postgres.url, { MATCHED_CAP: "20" });
after(async () => {
  await Promise.all([one.kill(), two.kill()]);
  await postgres.close();
});
before(() => Promise.all([one.start(), two.start()]));

interface TestResponse {
  readonly status: number;
  readonly etag: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
  readonly body: any;
}

async function send(
  replica: CatalogueProcess,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<TestResponse> {
  const response = await fetch(`${replica.url}/stac${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get("etag") ?? "",
    body: text === "" ? undefined : JSON.parse(text),
  };
}

test("each sees at once what the other has written, and versions hold across both", async () => {
  assert.equal((await send(one, "POST", "/collections", { body: makeCollection("shared") })).status, 201);
  assert.equal((await send(two, "POST", "/collections", { body: makeCollection("shared") })).status, 409);
  assert.equal((await send(two, "POST", "/collections/shared/items", { body: makeItem("a") })).status, 201);
  const read = await send(one, "GET", "/collections/shared/items/a");
  assert.equal(read.status, 200);
  const changed = makeItem("a", { properties: { datetime: "2024-06-01T10:00:00Z", note: "changed" } });
  const path = "/collections/shared/items/a";
  assert.equal((await send(two, "PUT", path, { body: changed, headers: { "if-match": read.etag } })).status, 200);
  assert.equal((await send(one, "GET", path)).body.properties.note, "changed");
  // The version that the first replica knew is no longer the last one.
  assert.equal((await send(one, "PUT", path, { body: changed, headers: { "if-match": read.etag } })).status, 412);
  assert.equal((await send(one, "DELETE", path)).status, 204);
  assert.equal((await send(two, "GET", path)).status, 404);
});

test("a collection that one deletes, the other does not write into any more; one made anew, it does", async () => {
  await send(one, "POST", "/collections", { body: makeCollection("short") });
  assert.equal((await send(one, "POST", "/collections/short/items", { body: makeItem("a") })).status, 201);
  assert.equal((await send(two, "DELETE", "/collections/short")).status, 204);
  assert.equal((await send(one, "POST", "/collections/short/items", { body: makeItem("b") })).status, 404);
  await send(two, "POST", "/collections", { body: makeCollection("short") });
  assert.equal((await send(one, "POST", "/collections/short/items", { body: makeItem("c") })).status, 201);
  const { body } = await send(two, "GET", "/collections/short/items");
  assert.deepEqual(
    body.features.map(({ id }: { id: string }) => id),
    ["c"],
  );
});

test("a search that is paged through on both in turn has every item once, while both write", async () => {
  await send(one, "POST", "/collections", { body: makeCollection("paged") });
  const day = (index: number): string => new Date(Date.UTC(2024, 0, 1 + index)).toISOString();
  const makeDated = (id: string, index: number) => makeItem(id, { properties: { datetime: day(index) } });
  const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const features = ids.map((id, index) => makeDated(id, 2 * index));
  const body = { type: "FeatureCollection", features };
  assert.equal((await send(one, "POST", "/collections/paged/items", { body })).status, 201);
  const seen: string[] = [];
  let path: string | undefined = "/search?collections=paged&limit=4";
  for (let turn = 0; path !== undefined; turn += 1) {
    const [reading, writing] = turn % 2 === 0 ? [one, two] : [two, one];
    const page: TestResponse = await send(reading, "GET", path);
    assert.equal(page.status, 200);
    seen.push(...page.body.features.map(({ id }: { id: string }) => id));
    // Newer than what has been read: it does not belong to the pages that are left. One of those that have been read goes.
    await send(writing, "POST", "/collections/paged/items", { body: makeDated(`new-${turn}`, 100 + turn) });
    await send(writing, "DELETE", `/collections/paged/items/${seen.at(-1) ?? ""}`);
    const next = page.body.links.find(({ rel }: { rel: string }) => rel === "next");
    path = next === undefined ? undefined : `/search${new URL(next.href).search}`;
  }
  assert.deepEqual(seen, ids.toReversed());
});

test("what one counts to be beyond the cap, it counts anew when the other has deleted", async () => {
  await send(one, "POST", "/collections", { body: makeCollection("counted") });
  const features = Array.from({ length: 22 }, (_, index) => makeItem(`n${index}`));
  await send(one, "POST", "/collections/counted/items", { body: { type: "FeatureCollection", features } });
  const count = async (): Promise<TestResponse["body"]> =>
    (await send(one, "GET", "/search?collections=counted&limit=2")).body;
  assert.equal((await count()).numberMatchedIsLowerBound, true);
  for (const { id } of features.slice(0, 12)) {
    await send(two, "DELETE", `/collections/counted/items/${String(id)}`);
  }
  await waitUntil("the new number", async () => (await count()).numberMatched === 10);
});

test("followers of one are told, in order and once, of what is written at both", async (t) => {
  await send(one, "POST", "/collections", { body: makeCollection("followed") });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const streams = [one, two].map(({ url }) => {
    const events: StreamedEvent[] = [];
    void followStream({ url, collection: "followed", signal: stop.signal, onEvent: (event) => events.push(event) });
    return events;
  });
  const ids = Array.from({ length: 40 }, (_, index) => `f${index}`);
  await Promise.all(
    [one, two].map(async (replica, which) => {
      for (const [index, id] of ids.entries()) {
        if (index % 2 === which) {
          const { status } = await send(replica, "POST", "/collections/followed/items", { body: makeItem(id) });
          assert.equal(status, 201);
        }
      }
    }),
  );
  await waitUntil("all changes at both", () => streams.every((events) => events.length >= ids.length + 1));
  const [first, second] = streams.map((events) => events.map(({ id, record }) => `${id} ${record ?? "-"}`));
  assert.deepEqual(first, second);
  assert.deepEqual(new Set(streams[0]?.flatMap(({ record }) => record ?? [])), new Set(ids));
  assert.equal(streams[0]?.length, ids.length + 1);
  // Of each writer in its own order.
  for (const which of [0, 1]) {
    const own: readonly string[] | undefined = streams[0]
      ?.flatMap(({ record }) => record ?? [])
      .filter((id) => Number(id.slice(1)) % 2 === which);
    assert.deepEqual(
      own,
      ids.filter((_, index) => index % 2 === which),
    );
  }
});

test("when one is killed, a subscriber is told by the other of all that was written at both", async () => {
  const taken: string[] = [];
  const subscriber = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const events = JSON.parse(Buffer.concat(chunks).toString()) as { data: { id?: string } }[];
      taken.push(...events.flatMap(({ data }) => data.id ?? []));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => subscriber.listen(0, "127.0.0.1", resolve));
  try {
    await send(one, "POST", "/collections", { body: makeCollection("told") });
    const { port } = subscriber.address() as { port: number };
    const response = await fetch(`${one.url}/subscriptions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, collections: ["told"] }),
    });
    assert.equal(response.status, 201, await response.text());
    const ids = Array.from({ length: 20 }, (_, index) => `t${String(index).padStart(2, "0")}`);
    for (const [index, id] of ids.entries()) {
      if (index === 10) {
        await one.kill();
      }
      const replica = index < 10 && index % 2 === 0 ? one : two;
      assert.equal((await send(replica, "POST", "/collections/told/items", { body: makeItem(id) })).status, 201);
    }
    await waitUntil("all changes", () => new Set(taken).size === ids.length);
    assert.deepEqual(
      taken.filter((id, index) => taken.indexOf(id) === index),
      ids,
    );
  } finally {
    subscriber.close();
    subscriber.closeAllConnections();
  }
});
