import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Events } from "./events.ts";
import { IndexDatabase } from "./index/index-database.ts";
import type { Bucket } from "./rows.ts";

test("what comes while the disk is busy is told once it is durable, too", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-events-"));
  // The first sync takes until it is told to end.
  const held = Promise.withResolvers<void>();
  let syncs = 0;
  const reach = async (point: string): Promise<void> => {
    if (point === "index-committed" && (syncs += 1) === 1) {
      await held.promise;
    }
  };
  const index = await IndexDatabase.open(folder, { reach }, (error) => {
    throw error;
  });
  t.after(async () => {
    await index.close();
    rmSync(folder, { recursive: true });
  });
  const events = new Events({ index, region: "us-east-1", now: Date.now });
  const seen: number[] = [];
  events.onDurable(() => seen.push(events.list("watcher", 10).length));
  const record = () => index.mutate(() => events.recordTest({ name: "b" } as Bucket, "watcher", "r"));

  const first = record();
  while (syncs === 0) {
    await nextTurn();
  }
  const second = record();
  await nextTurn();
  held.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(seen, [1, 2]);
});

async function openEvents(t: TestContext, maxWaiting: number) {
  const folder = mkdtempSync(join(tmpdir(), "swath-events-"));
  const index = await IndexDatabase.open(folder, { reach: async () => {} }, (error) => {
    throw error;
  });
  t.after(async () => {
    await index.close();
    rmSync(folder, { recursive: true });
  });
  let now = 1;
  const events = new Events({ index, region: "us-east-1", now: () => now++, maxWaiting });
  const record = (target: string, id: string) => events.recordTest({ name: "b" } as Bucket, target, id);
  return { index, events, record };
}

test("keeps a bounded number of events for a target that takes none, and those of others", async (t) => {
  const { index, events, record } = await openEvents(t, 10);
  await index.mutate(() => record("up", "first"));
  await index.mutate(() => Array.from({ length: 25 }, (_, i) => record("down", `r${i}`)));
  const ids = (target: string) =>
    events.list(target, 100).map(({ body }) => (JSON.parse(body) as { RequestId: string }).RequestId);
  assert.deepEqual(
    ids("down"),
    Array.from({ length: 10 }, (_, i) => `r${i + 15}`),
  );
  assert.deepEqual(ids("up"), ["first"]);
  assert.deepEqual([...events.listTargets()].sort(), ["down", "up"]);
  await events.remove(events.list("up", 1).map(({ id }) => id));
  assert.deepEqual(events.listTargets(), ["down"]);
  assert.equal(await events.dropOlder(0), 15);
});

test("drops old events in steps, between which others write", async (t) => {
  const { index, events, record } = await openEvents(t, 10_000);
  await index.mutate(() => Array.from({ length: 1700 }, (_, i) => record("down", `r${i}`)));
  let batches = 0;
  index.onBatch({ commit: () => (batches += 1), durable: () => {}, undo: () => {} });
  assert.equal(await events.dropOlder(3201), 1600);
  assert.ok(batches >= 4, `${batches} batches`);
  assert.equal(events.list("down", 1000).length, 100);
});

test("no statement about events looks at all that wait for a webhook", async (t) => {
  const { index, events, record } = await openEvents(t, 3);
  // What buckets and deliveries do, with the statements that it takes.
  const statements = new Set<string>();
  const [all, run] = [index.all.bind(index), index.run.bind(index)];
  t.mock.method(index, "all", (...args: Parameters<typeof all>) => {
    statements.add(args[0]);
    return all(...args);
  });
  t.mock.method(index, "run", (...args: Parameters<typeof run>) => {
    statements.add(args[0]);
    return run(...args);
  });
  await index.mutate(() => Array.from({ length: 5 }, (_, i) => record("down", `r${i}`)));
  assert.deepEqual(events.listTargets(), ["down"]);
  await events.remove(events.list("down", 1).map(({ id }) => id));
  await events.dropOlder(4);
  assert.ok(statements.size >= 6, [...statements].join("\n"));
  for (const sql of statements) {
    const values = Array.from(sql.matchAll(/\?/g), () => 1);
    const plan = all<{ detail: string }>(`explain query plan ${sql}`, ...values).map(({ detail }) => detail);
    assert.doesNotMatch(plan.join("; "), /SCAN events\b|TEMP B-TREE/, sql);
  }
});
