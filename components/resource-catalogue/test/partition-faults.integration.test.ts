import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { startTestServer } from "@swath/postgres/server";
import { waitUntil } from "@swath/testing";
import pg from "pg";

import { makeCollection, makeItem } from "./fixture.ts";
import { checkPlaces } from "./partition-checks.ts";
import { prepareProcess } from "./processes.ts";

// Two replicas divide a collection while both write into it and one of them is killed again and again.
const postgres = await startTestServer();
const environment = { PARTITION_RECORDS: "1000" };
const killed = await prepareProcess(postgres.url, environment);
const other = await prepareProcess(postgres.url, environment);
const client = new pg.Client({ connectionString: postgres.url, options: "-c search_path=catalogue,public" });
await client.connect();
after(async () => {
  await Promise.all([killed.kill(), other.kill()]);
  await client.end();
  await postgres.close();
});

const ITEMS = 6000;
const KILLS = 6;
const DAY = 86_400_000;
const makeDated = (id: number, day: number): object =>
  makeItem(`i${id}`, { properties: { datetime: new Date(Date.UTC(2016, 0, 1) + day * DAY).toISOString() } });

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(
  base: string,
  method: string,
  path: string,
  body?: string,
  type = "application/json",
): Promise<Answer> {
  const response = await fetch(`${base}/stac/collections${path}`, {
    method,
    ...(body !== undefined && { body, headers: { "content-type": type } }),
  });
  return { status: response.status, text: await response.text() };
}

const load = (base: string, items: readonly object[], method: string): Promise<Answer> =>
  send(
    base,
    "POST",
    `/many/items.ndjson?method=${method}`,
    items.map((item) => JSON.stringify(item)).join("\n"),
    "application/x-ndjson",
  );

/** The day of each item that was acknowledged; those whose request broke off may have either. */
const days = new Map<number, ReadonlySet<number | undefined>>();

/** Changes items of its own until it is told to stop; each change is acknowledged, or may have happened. */
async function write(base: string, from: number, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    const ids = Array.from({ length: 20 }, (_, index) => from + (((turn * 20 + index) * 7) % (ITEMS / 2)));
    const day = (id: number): number => (id * 13 + turn * 101) % ITEMS;
    const isDeleting = turn % 4 === 3;
    const [only = from] = ids;
    const changed = isDeleting ? [only] : [...new Set(ids)];
    const before = changed.map((id) => days.get(id) ?? new Set([undefined]));
    const wanted = changed.map((id) => (isDeleting ? undefined : day(id)));
    changed.forEach((id, index) => days.set(id, new Set([...(before[index] ?? []), wanted[index]])));
    try {
      const { status, text } = isDeleting
        ? await send(base, "DELETE", `/many/items/i${only}`)
        : await load(
            base,
            changed.map((id) => makeDated(id, day(id))),
            "upsert",
          );
      if ((isDeleting && status === 204) || status === 201) {
        changed.forEach((id, index) => days.set(id, new Set([wanted[index]])));
      } else if (isDeleting && status === 404) {
        days.set(only, new Set([undefined]));
      } else {
        assert.equal(status, 503, text);
      }
    } catch (error) {
      assert.ok(error instanceof TypeError, String(error));
      await sleep(100);
    }
  }
}

test("nothing is lost or twice when a replica is killed while it divides a collection that both write into", async () => {
  await killed.start();
  await other.start();
  assert.equal((await send(killed.url, "POST", "", JSON.stringify(makeCollection("many")))).status, 201);
  const items = Array.from({ length: ITEMS }, (_, id) => makeDated(id, id));
  items.forEach((_, id) => days.set(id, new Set([id])));
  const { status, text } = await load(killed.url, items, "insert");
  assert.equal(status, 201, text);
  let isOver = false;
  const writers = Promise.all([write(killed.url, 0, () => isOver), write(other.url, ITEMS / 2, () => isOver)]);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(30 + 60 * kill);
    await killed.kill();
    await killed.start();
  }
  isOver = true;
  await writers;
  await killed.kill();
  await killed.start();
  await waitUntil("the division to end", async () => {
    const { rows } = await client.query<{ left: number; retired: number; parts: number }>(
      `select (select count(*)::int from record where part = 0 and kind = 'i') as left, count(*) filter (where is_retired)::int as retired,
         count(*)::int as parts from part where number <> 0`,
    );
    const [row] = rows;
    return row !== undefined && row.left < 50 && row.retired === 0 && row.parts >= 6;
  });
  await checkPlaces(client);
  const { rows } = await client.query<{ id: string; day: number }>(
    "select id, (date_part('epoch', at - timestamptz '2016-01-01T00:00:00Z') / 86400)::int as day from record where kind = 'i'",
  );
  const found = new Map(rows.map(({ id, day }) => [Number(id.slice(1)), day]));
  assert.equal(found.size, rows.length);
  for (const [id, possible] of days) {
    assert.ok(possible.has(found.get(id)), `i${id}: ${String(found.get(id))} instead of ${[...possible].join(" or ")}`);
  }
  assert.ok(rows.length > ITEMS / 2);
  // And over HTTP, in the order of time.
  let seen = 0;
  let url: string | undefined = `${other.url}/stac/search?collections=many&limit=1000`;
  while (url !== undefined) {
    const page = (await (await fetch(url)).json()) as { features: unknown[]; links: { rel: string; href: string }[] };
    seen += page.features.length;
    url = page.links.find(({ rel }) => rel === "next")?.href;
  }
  assert.equal(seen, rows.length);
});
