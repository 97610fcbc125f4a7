import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const SERVICE_KEY = "key of the services";
const catalogue = await startCatalogue({ FEED_KEY: SERVICE_KEY });
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("feed") });

interface CloudEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly operation: string; readonly id?: string };
}

test("changes come in order, once each, page by page", async () => {
  const features = Array.from({ length: 20 }, (_, index) => makeItem(`i${index}`));
  await request("POST", "/stac/collections/feed/items", { body: { type: "FeatureCollection", features } });
  await request("PUT", "/stac/collections/feed/items/i3", { body: makeItem("i3") });
  await request("DELETE", "/stac/collections/feed/items/i4");
  const seen: string[] = [];
  let next = "";
  for (;;) {
    const { body } = await request("GET", `/changes?limit=7&collections=feed${next === "" ? "" : `&after=${next}`}`);
    seen.push(...(body.changes as CloudEvent[]).map(({ data: { operation, id } }) => `${operation} ${id ?? "-"}`));
    if (body.changes.length === 0) {
      break;
    }
    next = body.next as string;
  }
  assert.deepEqual(seen, [
    "created -",
    ...features.map(({ id }) => `created ${String(id)}`),
    "updated i3",
    "deleted i4",
  ]);
});

test("a stream goes on where the last one ended", async () => {
  const follow = async (headers: Record<string, string>, count: number): Promise<CloudEvent[]> => {
    const stop = new AbortController();
    const response = await fetch(`${catalogue.url}/changes`, {
      headers: { accept: "text/event-stream", ...headers },
      signal: stop.signal,
    });
    const events: CloudEvent[] = [];
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) {
          events.push(JSON.parse(data) as CloudEvent);
        }
      }
      if (events.length >= count) {
        break;
      }
    }
    stop.abort();
    return events;
  };
  const live = follow({}, 1);
  await waitUntil("an event of the stream", async () => {
    await request("POST", "/stac/collections/feed/items", { body: makeItem(`live-${Date.now()}`) });
    return (await Promise.race([
      live.then(() => true),
      new Promise((resolve) => setTimeout(() => resolve(false), 200)),
    ])) as boolean;
  });
  const [first] = await live;
  await request("POST", "/stac/collections/feed/items", { body: makeItem("after-the-break") });
  const resumed = await follow({ "last-event-id": first?.id ?? "" }, 1);
  assert.notEqual(resumed[0]?.id, first?.id);
});

test("a stream says whether everything has been told, to those who ask for it", async () => {
  const stop = new AbortController();
  const response = await fetch(`${catalogue.url}/changes?beat=1`, {
    headers: { accept: "text/event-stream", "x-feed-key": SERVICE_KEY },
    signal: stop.signal,
  });
  const lines: string[] = [];
  let hasWritten = false;
  for await (const chunk of response.body ?? []) {
    lines.push(...Buffer.from(chunk).toString().split("\n"));
    if (!hasWritten && lines.includes(": current")) {
      hasWritten = true;
      await request("POST", "/stac/collections/feed/items", { body: makeItem("told-of") });
    }
    if (lines.some((line) => line.startsWith("data: ")) && lines.at(-3) === ": current") {
      break;
    }
  }
  stop.abort();
  const [first, event] = [lines.indexOf(": current"), lines.findIndex((line) => line.startsWith("data: "))];
  assert.match(lines[1] ?? "", /^id: \d+-0-0$/);
  assert.ok(first > 0 && event > first, lines.join("\n"));
  for (const beat of ["0", "16", "x"]) {
    assert.equal(
      (await request("GET", `/changes?beat=${beat}`, { headers: { accept: "text/event-stream" } })).status,
      400,
    );
  }
  const { status } = await request("GET", "/changes", { headers: { "x-feed-key": `${SERVICE_KEY}x` } });
  assert.equal(status, 401);
});

test("a subscriber who refuses is told again, in order and signed; what it has taken does not come again", async () => {
  const secret = "a secret of sixteen";
  const taken: CloudEvent[] = [];
  let refusals = 2;
  let badSignatures = 0;
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const expected = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      badSignatures += incoming.headers["x-signature-256"] === expected ? 0 : 1;
      refusals -= 1;
      if (refusals >= 0) {
        response.writeHead(503).end();
        return;
      }
      taken.push(...(JSON.parse(body.toString()) as CloudEvent[]));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const { status, text } = await request("POST", "/subscriptions", {
      body: { url: `http://127.0.0.1:${port}/`, secret, collections: ["feed"] },
    });
    assert.equal(status, 201, text);
    assert.doesNotMatch(text, /sixteen/);
    for (const id of ["told-1", "told-2", "told-3"]) {
      await request("POST", "/stac/collections/feed/items", { body: makeItem(id) });
    }
    await waitUntil("all changes", () => taken.length >= 3);
    assert.deepEqual(
      taken.map(({ data }) => data.id),
      ["told-1", "told-2", "told-3"],
    );
    assert.equal(badSignatures, 0);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test("one client that opens streams without end gets 429; others, and those with a key, still follow", async () => {
  const stop = new AbortController();
  const open = async (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${catalogue.url}/changes`, { headers: { accept: "text/event-stream", ...headers }, signal: stop.signal });
  try {
    const flood = await Promise.all(Array.from({ length: 60 }, () => open({ "x-forwarded-for": "192.0.2.7" })));
    const refused = flood.filter(({ status }) => status === 429);
    assert.equal(refused.length, 20);
    for (const response of refused) {
      assert.ok(Number(response.headers.get("retry-after")) >= 1);
      assert.match(await response.text(), /Your address has 40 change streams already/);
    }
    assert.equal((await open({ "x-forwarded-for": "192.0.2.8" })).status, 200);
    assert.equal((await open({ "x-forwarded-for": "192.0.2.7", "x-feed-key": SERVICE_KEY })).status, 200);
  } finally {
    stop.abort();
  }
  await waitUntil("places are given back", async () => {
    const again = new AbortController();
    const { status } = await fetch(`${catalogue.url}/changes`, {
      headers: { accept: "text/event-stream", "x-forwarded-for": "192.0.2.7" },
      signal: again.signal,
    });
    again.abort();
    return status === 200;
  });
});
