import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { makeItem, startDocuments, startFixture } from "../../components/registration-api/test/fixture.ts";

// Documents a little below the largest size, four at once, as the platform starts a registrar; another user goes on meanwhile.
const BYTES = Math.floor(31.6 * 2 ** 20);
const DOCUMENTS = 4;
/** The limit of a registrar's pod. */
const MAX_RSS_MB = 1280;
/** On a machine with much else to do: one thread parses, and writes for all. */
const MAX_WAIT_MS = 30_000;

const fixture = await startFixture();
after(fixture.close);
const { send, register, settle, callCatalogue } = fixture;

/** Of parsed JSON, lists of short numbers take most memory. */
const GEOMETRY = {
  type: "MultiPoint",
  coordinates: Array.from({ length: 2000 }, (_, index) => [10 + (index % 7) / 10, 45.5]),
};

/** A page of items, of nearly the size. */
function makePage(name: string): { readonly bytes: Buffer; readonly items: number } {
  const parts: string[] = [];
  let length = 60;
  for (;;) {
    const id = `${name}-${parts.length}`;
    const text = JSON.stringify(makeItem(id, { collection: `large-${name}`, geometry: GEOMETRY, assets: {} }));
    length += text.length + 1;
    if (length > BYTES) {
      break;
    }
    parts.push(text);
  }
  const bytes = Buffer.from(`{"type":"FeatureCollection","links":[],"features":[${parts.join(",")}]}`);
  return { bytes, items: parts.length };
}

const peakMb = (): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${fixture.pidOf("worker") ?? 0}/status`, "utf8"))?.[1]) / 1024;

/** What another user waits for a small record until it is done, again and again until `work` has ended. */
async function waitsOfOthers(name: string, work: Promise<unknown>): Promise<readonly number[]> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  const waits: number[] = [];
  while (!isOver) {
    const started = performance.now();
    const { status, body } = await fixture.sendInternally("POST", "/tasks", {
      scope: name,
      requestedBy: "other",
      buckets: [],
      wait: 30,
      request: { form: "json", document: makeItem(`small-${waits.length}`, { assets: {} }) },
    });
    assert.deepEqual([status, body.state], [202, "done"], JSON.stringify(body));
    waits.push(performance.now() - started);
    await sleep(250);
  }
  return waits;
}

test("four pages of 31.6 MiB at once are registered whole, in bounded memory, and hold nobody up", async (t) => {
  const pages = new Map(
    Array.from({ length: DOCUMENTS }, (_, index) => [`/page-${index}.json`, makePage(`p${index}`)]),
  );
  const source = await startDocuments((path) => pages.get(path)?.bytes);
  t.after(source.close);
  const started = performance.now();
  const work = Promise.all(
    [...pages.keys()].map(async (path) => {
      const { headers } = await send("POST", "/register", { type: "stac-item", url: `${source.url}${path}` });
      return settle(headers.get("location") ?? "");
    }),
  );
  const waits = await waitsOfOthers("beside-pages", work);
  const seconds = (performance.now() - started) / 1000;
  const longest = Math.max(...waits);
  t.diagnostic(
    `${seconds.toFixed(0)} s; ${waits.length} small records meanwhile, longest wait ${longest.toFixed(0)} ms; registrar at most ${peakMb().toFixed(0)} MB`,
  );
  for (const [index, { body }] of (await work).entries()) {
    const items = pages.get(`/page-${index}.json`)?.items;
    assert.deepEqual([body.state, body.result?.registered], ["done", items], JSON.stringify(body));
  }
  const { body } = await callCatalogue("/stac/collections/large-p3/items?limit=1");
  assert.equal(body.features.length, 1);
  assert.ok(peakMb() <= MAX_RSS_MB, `${peakMb()} MB`);
  assert.ok(longest <= MAX_WAIT_MS, `${longest} ms`);
});

test("one record of 31.6 MiB, four at once: refused in words, by an address and as a body", async (t) => {
  const source = await startDocuments((path) =>
    makeItem(path.slice(1), {
      collection: "too-large",
      properties: { datetime: "2024-06-01T10:00:00Z", note: "x".repeat(BYTES - 1000) },
    }),
  );
  t.after(source.close);
  const work = Promise.all(
    Array.from({ length: DOCUMENTS }, (_, index) =>
      register("/register", { type: "stac-item", url: `${source.url}/item-${index}` }),
    ),
  );
  const waits = await waitsOfOthers("beside-items", work);
  const reasons = (await work).map(({ body }) => [body.state, body.reason, body.result]);
  const posted = await Promise.all(
    Array.from({ length: DOCUMENTS }, (_, index) =>
      send("POST", "/register-json", makeItem(`posted-${index}`, { note: "x".repeat(BYTES - 1000) })),
    ),
  );
  t.diagnostic(`longest wait ${Math.max(...waits).toFixed(0)} ms; registrar at most ${peakMb().toFixed(0)} MB`);
  t.diagnostic(JSON.stringify(reasons[0]));
  t.diagnostic(JSON.stringify(posted[0]?.body));
  for (const [state, reason] of reasons) {
    assert.equal(state, "failed");
    assert.match(reason, /one record of 31\.6 MiB.*8 MiB/);
  }
  for (const { status, body } of posted) {
    assert.equal(status, 413);
    assert.match(body.detail, /8 MiB.*POST \/register/);
  }
  assert.ok(peakMb() <= MAX_RSS_MB, `${peakMb()} MB`);
  assert.ok(Math.max(...waits) <= MAX_WAIT_MS);
  assert.equal((await send("GET", "/probe")).status, 200);
});
