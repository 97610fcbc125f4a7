import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";

import { makeCollection, makeItem } from "./fixture.ts";

const postgres = await startTestServer();
const [port = 0] = await findFreePorts(1);
const base = `http://127.0.0.1:${port}/stac`;
let service: ChildProcess;
after(async () => {
  service.kill("SIGKILL");
  await postgres.close();
});

async function startService(): Promise<void> {
  service = spawn(process.execPath, [programFile("resource-catalogue/main.ts")], {
    env: {
      ...compiledCode,
      LOG_LEVEL: "fatal",
      DATABASE_URL: postgres.url,
      PUBLIC_URL: "http://resource-catalogue.localhost",
      AUTHENTICATION: "optional",
      MATCHED_CAP: "1000000",
      LISTEN: `127.0.0.1:${port}`,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("the service", async () => (await fetch(`${base}/conformance`)).ok);
}

async function send(method: string, path: string, body?: unknown, type = "application/json"): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(`${base}${path}`, {
    method,
    ...(body !== undefined && { body: text, headers: { "content-type": type } }),
    signal: AbortSignal.timeout(60_000),
  });
}

async function countOf(collection: string, prefix = ""): Promise<number> {
  const filter = encodeURIComponent(`id LIKE '${prefix}%'`);
  const response = await send("GET", `/search?collections=${collection}&limit=1&filter=${filter}`);
  return ((await response.json()) as { numberMatched: number }).numberMatched;
}

const linesOf = (batch: number, count: number): string =>
  Array.from({ length: count }, (_, index) => JSON.stringify(makeItem(`b${batch}.${index}`))).join("\n");

/** Follows the changes of a collection page by page, and goes on where it was when the service is back. */
class Follower {
  readonly seen: string[] = [];
  #after = "0-0-0";

  /** Whether there was something new. */
  async readPage(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${port}/changes?collections=crash&limit=1000&after=${this.#after}`, {
      signal: AbortSignal.timeout(60_000),
    });
    if (!response.ok) {
      throw new Error(`/changes responded ${response.status}`);
    }
    const { changes, next } = (await response.json()) as { changes: { data: { id?: string } }[]; next: string };
    this.#after = next;
    this.seen.push(...changes.flatMap(({ data }) => data.id ?? []));
    return changes.length > 0;
  }
}

await startService();
await send("POST", "/collections", makeCollection("crash"));
const follower = new Follower();

for (const victim of ["service", "PostgreSQL"] as const) {
  test(`kill -9 of ${victim} amid loads: what was acknowledged is there whole, nothing is there half`, async () => {
    const first = victim === "service" ? 0 : 100;
    const size = 400;
    const acknowledged = new Set<number>();
    let next = first;
    let isKilled = false;
    const loader = async (): Promise<void> => {
      while (!isKilled && next < first + 60) {
        const batch = next;
        next += 1;
        const response = await send(
          "POST",
          "/collections/crash/items.ndjson",
          linesOf(batch, size),
          "application/x-ndjson",
        ).catch(() => undefined);
        if (response?.status === 201) {
          acknowledged.add(batch);
        }
      }
    };
    const follow = async (): Promise<void> => {
      while (!isKilled) {
        // What breaks off is read again.
        await follower.readPage().catch(() => false);
      }
    };
    // As many loads at once as a caller may have.
    const loaders = [loader(), loader(), follow()];
    await waitUntil("some loads", () => acknowledged.size >= 3).catch((error: unknown) => {
      // The reader of changes runs until then.
      isKilled = true;
      throw error;
    });
    if (victim === "service") {
      service.kill("SIGKILL");
    } else {
      await postgres.kill();
    }
    isKilled = true;
    await Promise.all(loaders);
    if (victim === "service") {
      await startService();
    } else {
      await postgres.start();
      await waitUntil("the service finds its database again", async () => (await send("GET", "/search?limit=1")).ok);
    }
    for (let batch = first; batch < next; batch += 1) {
      const count = await countOf("crash", `b${batch}.`);
      assert.ok(acknowledged.has(batch) ? count === size : count === 0 || count === size, `batch ${batch}: ${count}`);
    }
    // Whoever follows misses nothing and sees nothing twice. What a session of the killed service still holds open comes later.
    const ids = [...acknowledged].flatMap((batch) => Array.from({ length: size }, (_, index) => `b${batch}.${index}`));
    await waitUntil("the changes of all that was acknowledged", async () => {
      while (await follower.readPage()) {
        // On to the next page.
      }
      const seen = new Set(follower.seen);
      return ids.every((id) => seen.has(id));
    });
    assert.equal(new Set(follower.seen).size, follower.seen.length);
  });
}

for (const victim of ["service", "PostgreSQL"] as const) {
  test(`kill -9 of ${victim} amid single POSTs of 16 clients: every item that was acknowledged is there`, async () => {
    const collection = `singles-${victim}`;
    await send("POST", "/collections", makeCollection(collection));
    const acknowledged: string[] = [];
    let next = 0;
    let isKilled = false;
    const clients = Array.from({ length: 16 }, async () => {
      while (!isKilled) {
        next += 1;
        const id = `single-${next}`;
        const response = await send("POST", `/collections/${collection}/items`, makeItem(id)).catch(() => undefined);
        if (response?.status === 201) {
          acknowledged.push(id);
        }
      }
    });
    await waitUntil("some items", () => acknowledged.length >= 200);
    if (victim === "service") {
      service.kill("SIGKILL");
    } else {
      await postgres.kill();
    }
    isKilled = true;
    await Promise.all(clients);
    if (victim === "service") {
      await startService();
    } else {
      await postgres.start();
      await waitUntil("the service finds its database again", async () => (await send("GET", "/search?limit=1")).ok);
    }
    const response = await send("GET", `/search?collections=${collection}&limit=10000`);
    const { features } = (await response.json()) as { features: { id: string }[] };
    const stored = new Set(features.map(({ id }) => id));
    assert.equal(stored.size, features.length);
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
  });
}

test("16 writers of the same ids: no deadlock, none lost, the last one wins whole", async () => {
  await send("POST", "/collections", makeCollection("race"));
  const ids = Array.from({ length: 40 }, (_, index) => `same-${index}`);
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const statuses: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        // Each in an order of its own.
        const order = ids.toSorted(() => Math.random() - 0.5);
        const items = Object.fromEntries(
          order.map((id) => [id, makeItem(id, { properties: { datetime: "2024-01-01T00:00:00Z", writer, round } })]),
        );
        statuses.push((await send("POST", "/collections/race/bulk_items", { items, method: "upsert" })).status);
        const own = `own-${writer}-${round}`;
        statuses.push((await send("POST", "/collections/race/items", makeItem(own))).status);
        const [shared = ""] = order;
        statuses.push(
          (await send("PATCH", `/collections/race/items/${shared}`, { properties: { [`w${writer}`]: round } })).status,
        );
      }
      return statuses;
    }),
  );
  assert.deepEqual(
    [...new Set(outcomes.flat())].toSorted((a, b) => a - b),
    [200, 201],
  );
  assert.equal(await countOf("race", "own-"), 80);
  assert.equal(await countOf("race", "same-"), 40);
});

test("one id created by 16 clients at once exists once", async () => {
  const statuses = await Promise.all(
    Array.from(
      { length: 16 },
      async () => (await send("POST", "/collections/race/items", makeItem("only-one"))).status,
    ),
  );
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.equal(statuses.filter((status) => status === 409).length, 15);
});
