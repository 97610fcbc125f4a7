import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Events } from "./events.ts";
import { IndexDatabase } from "./index-database.ts";
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
