import assert from "node:assert/strict";
import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { startTestServer } from "@swath/postgres/server";
import { waitUntil } from "@swath/testing";

import { makeCollection, makeItem } from "./fixture.ts";
import { type StreamedEvent, followStream } from "./follow-stream.ts";
import { prepareProcess } from "./processes.ts";

const postgres = await startTestServer();
const service = await prepareProcess(postgres.url);
const base = service.url;

interface CloudEvent {
  readonly data: { readonly id?: string };
}

/** A subscriber that keeps what it has taken. It takes nothing, and says nothing, until it is told to. */
const taken: string[] = [];
const held: ServerResponse[] = [];
let isTaking = false;
const subscriber = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    if (!isTaking) {
      held.push(response);
      return;
    }
    const events = JSON.parse(Buffer.concat(chunks).toString()) as CloudEvent[];
    taken.push(...events.flatMap(({ data }) => data.id ?? []));
    response.writeHead(204).end();
  });
});
subscriber.listen(0, "127.0.0.1");
await once(subscriber, "listening");
after(async () => {
  await service.kill();
  subscriber.close();
  subscriber.closeAllConnections();
  await postgres.close();
});

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${base}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 201, await response.text());
}

test("kill -9 amid a delivery: the subscriber is told all the same, in order, of every change", async () => {
  await service.start();
  await post("/stac/collections", makeCollection("told"));
  await post("/subscriptions", {
    url: `http://127.0.0.1:${(subscriber.address() as AddressInfo).port}/`,
    collections: ["told"],
  });
  const ids = Array.from({ length: 30 }, (_, index) => `i${String(index).padStart(2, "0")}`);
  for (const id of ids.slice(0, 20)) {
    await post("/stac/collections/told/items", makeItem(id));
  }
  await waitUntil("a delivery that has no answer", () => held.length > 0);
  await service.kill();
  isTaking = true;
  await service.start();
  for (const id of ids.slice(20)) {
    await post("/stac/collections/told/items", makeItem(id));
  }
  // The delivery was left to the process that is gone for half a minute.
  await waitUntil("every change", () => new Set(taken).size === ids.length);
  // At least once each: what came twice came after a failure, from where it had been on.
  assert.deepEqual(
    taken.filter((id, index) => taken.indexOf(id) === index),
    ids,
  );
});

test("kill -9 under followers of the stream: each goes on after its last event, none is lost and none comes twice", async (t) => {
  const KILLS = 3;
  const ITEMS_EACH = 25;
  await post("/stac/collections", makeCollection("streamed"));
  const stop = new AbortController();
  t.after(() => stop.abort());
  const followers = Array.from({ length: 3 }, () => {
    const events: StreamedEvent[] = [];
    const onEvent = (event: StreamedEvent): number => events.push(event);
    void followStream({ url: base, collection: "streamed", signal: stop.signal, onEvent });
    return events;
  });
  const acknowledged: string[] = [];
  let isOver = false;
  const writers = ["a", "b"].map(async (name) => {
    for (let number = 0; !isOver; number += 1) {
      const id = `${name}${number}`;
      await post("/stac/collections/streamed/items", makeItem(id)).then(
        () => acknowledged.push(id),
        // Whether it is there is not known; it is not written again.
        () => undefined,
      );
      await sleep(10);
    }
  });
  const writeMore = async (): Promise<void> => {
    const enough = acknowledged.length + ITEMS_EACH;
    await waitUntil("more items", () => acknowledged.length >= enough);
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writeMore();
    await service.kill();
    await service.start();
  }
  await writeMore();
  isOver = true;
  await Promise.all(writers);
  const isWhole = (events: readonly StreamedEvent[]): boolean => {
    const seen = new Set(events.map(({ record }) => record));
    return acknowledged.every((id) => seen.has(id));
  };
  await waitUntil("every change at every follower", () => followers.every(isWhole));
  // What the feed has now, from its beginning; whatever was written without being acknowledged is in it, too.
  const response = await fetch(`${base}/changes?collections=streamed&limit=1000&after=0-0-0`);
  const { changes } = (await response.json()) as { changes: { id: string }[] };
  await waitUntil("the end of the feed", () => followers.every((events) => events.length >= changes.length));
  for (const events of followers) {
    assert.deepEqual(
      events.map(({ id }) => id),
      changes.map(({ id }) => id),
    );
  }
});
