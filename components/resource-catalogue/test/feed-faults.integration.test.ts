import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePorts, waitUntil } from "@swath/testing";

import { makeCollection, makeItem } from "./fixture.ts";

const postgres = await startTestServer();
const [port = 0] = await findFreePorts(1);
const base = `http://127.0.0.1:${port}`;
let service: ChildProcess;

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
  service.kill("SIGKILL");
  subscriber.close();
  subscriber.closeAllConnections();
  await postgres.close();
});

async function startService(): Promise<void> {
  service = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    env: {
      ...compiledCode,
      LOG_LEVEL: "fatal",
      DATABASE_URL: postgres.url,
      PUBLIC_URL: "http://resource-catalogue.localhost",
      AUTHENTICATION: "optional",
      LISTEN: `127.0.0.1:${port}`,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("the service", async () => (await fetch(`${base}/stac/conformance`)).ok);
}

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${base}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 201, await response.text());
}

test("kill -9 amid a delivery: the subscriber is told all the same, in order, of every change", async () => {
  await startService();
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
  service.kill("SIGKILL");
  await once(service, "exit");
  isTaking = true;
  await startService();
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
