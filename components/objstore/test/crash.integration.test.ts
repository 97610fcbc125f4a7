import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import type { CrashPoint } from "../store/crash-points.ts";
import { checkFiles, killStarted, readVersion, reopenStore, startToCrash } from "./crash-support.ts";

const Bucket = "crash";
const POINTS: readonly CrashPoint[] = [
  "content-opened",
  "content-written",
  "content-synced",
  "content-named",
  "index-applied",
  "index-committed",
  "index-durable",
  "garbage-unlinked",
];

/** Round n writes these bytes under a key: large ones are files, small ones live in the index. */
const bodyOf = (key: string, round: number) =>
  Buffer.alloc(key.startsWith("large") ? 200_000 : 500, `${key}:${round};`);

test("killed at any point, the store keeps what it acknowledged, shows nothing torn and leaks nothing", async (t) => {
  for (const point of POINTS) {
    for (const nth of [1, 7]) {
      await t.test(`${point}, time ${nth}`, async () => {
        const directory = await mkdtemp(join(tmpdir(), "objstore-crash-"));
        try {
          await writeUntilKilled(directory, point, nth);
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      });
    }
  }
});

async function writeUntilKilled(directory: string, point: CrashPoint, nth: number): Promise<void> {
  const first = await startToCrash(directory, "none", 0);
  await first.client.send(new s3.CreateBucketCommand({ Bucket }));
  await killStarted(first);

  const started = await startToCrash(directory, point, nth);
  const { child, client } = started;
  const acknowledged = new Map<string, number>();
  const attempted = new Map<string, number>();
  await Promise.all(
    ["large-a", "large-b", "small-a", "small-b"].map(async (Key) => {
      for (let round = 1; round <= 8 && child.exitCode === null && child.signalCode === null; round += 1) {
        attempted.set(Key, round);
        try {
          await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: bodyOf(Key, round) }));
          acknowledged.set(Key, round);
        } catch {
          return; // killed: this round was not acknowledged
        }
      }
    }),
  );
  await killStarted(started);

  const store = await reopenStore(directory);
  try {
    const { id, bytes, objects } = store.buckets.get(Bucket);
    let size = 0;
    let count = 0;
    for (const [key, round] of attempted) {
      const version = store.versions.findLatest(id, key);
      const known = acknowledged.get(key) ?? 0;
      if (version === undefined) {
        assert.equal(known, 0, `${key} was acknowledged and is gone`);
        continue;
      }
      count += 1;
      size += version.size;
      const found = await readVersion(store, version);
      const rounds = Array.from({ length: round - known + 1 }, (_, index) => known + index).filter((each) => each > 0);
      assert.ok(
        rounds.some((each) => found.equals(bodyOf(key, each))),
        `${key} is neither what was acknowledged nor what was being written`,
      );
    }
    assert.deepEqual([objects, bytes], [count, size]);
    const referred = await checkFiles(store, directory);
    assert.equal(
      referred.length,
      [...attempted.keys()].filter((key) => key.startsWith("large") && store.versions.findLatest(id, key)).length,
    );
  } finally {
    await store.close();
  }
}
