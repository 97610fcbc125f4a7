import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Checkpointer } from "./checkpointer.ts";
import { noCrashPoints } from "../crash-points.ts";
import { IndexDatabase } from "./index-database.ts";
import { takeTurns } from "../turns.ts";

test("changes that waited for a checkpoint begin in their order, a few in each turn of the event loop", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-index-"));
  // The second stage of a checkpoint, for which changes wait, ends when the test says so.
  let finish: (() => void) | undefined;
  let stages = 0;
  t.mock.method(Checkpointer.prototype, "start", (done: () => void) => {
    stages += 1;
    if (stages === 1) {
      done();
    } else {
      finish = done;
    }
  });
  const index = await IndexDatabase.open(directory, noCrashPoints, (error) => assert.fail(error));
  const set = (name: string, value: string) =>
    index.mutate(() => index.run("insert or replace into meta (name, value) values (?, ?)", name, value));
  try {
    for (let n = 0; finish === undefined; n += 1) {
      assert.ok(n < 100, "no checkpoint began");
      await set("large", "x".repeat(1 << 20));
    }
    let turn = 0;
    const started: { readonly number: number; readonly turn: number }[] = [];
    const changes = Array.from({ length: 100 }, (_, number) => index.mutate(() => void started.push({ number, turn })));
    const late = takeTurns().then(() => index.mutate(() => void started.push({ number: 100, turn })));
    await takeTurns();
    assert.equal(started.length, 0, "changes began within the checkpoint");
    finish();
    while (started.length <= 100) {
      turn += 1;
      await takeTurns();
    }
    await Promise.all([...changes, late]);
    assert.deepEqual(
      started.map(({ number }) => number),
      Array.from({ length: 101 }, (_, number) => number),
    );
    const most = Math.max(
      ...Map.groupBy(started, (each) => each.turn)
        .values()
        .map(({ length }) => length),
    );
    assert.ok(most <= 8, `${most} changes began in one turn`);
  } finally {
    await index.close();
    await rm(directory, { recursive: true, force: true });
  }
});
