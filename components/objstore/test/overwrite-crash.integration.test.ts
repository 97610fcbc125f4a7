import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import * as s3 from "@aws-sdk/client-s3";

import { openStore } from "../store/store.ts";
import { killStarted, readVersion, startToCrash } from "./crash-support.ts";

const Bucket = "crash";
const KEYS = 6;
const ROUNDS = 8;
const bodyOf = (key: string, round: number) => Buffer.alloc(33_000 + (round % 7) * 1024, `${key}:${round};`);

test("killed at random moments while everything is overwritten on a slow disk, it keeps every acknowledged object", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-overwrite-"));
  const acknowledged = new Map<string, number>();
  const attempted = new Map<string, number>();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = await startToCrash(directory, "none", 0, 8);
      const { child, client } = started;
      if (round === 0) {
        await client.send(new s3.CreateBucketCommand({ Bucket }));
      }
      const writers = Array.from({ length: KEYS }, async (_, n) => {
        const Key = `k${n}`;
        while (child.exitCode === null && child.signalCode === null) {
          const next = (attempted.get(Key) ?? 0) + 1;
          attempted.set(Key, next);
          try {
            await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: bodyOf(Key, next) }));
            acknowledged.set(Key, next);
          } catch {
            return; // killed: this one was not acknowledged
          }
        }
      });
      await sleep(150 + Math.random() * 350);
      child.kill("SIGKILL");
      await once(child, "exit");
      await Promise.all(writers);
      await killStarted(started);
      await checkContent(directory, acknowledged, attempted);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

/** Looks before the collector has had its turn as well as after. */
async function checkContent(
  directory: string,
  acknowledged: ReadonlyMap<string, number>,
  attempted: ReadonlyMap<string, number>,
): Promise<void> {
  const fail = (error: unknown) => assert.fail(String(error));
  const store = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  try {
    const { id } = store.buckets.get(Bucket);
    for (const pass of ["before", "after"]) {
      for (const [key, known] of acknowledged) {
        const version = store.versions.findLatest(id, key);
        assert.ok(version, `${key} was acknowledged and is gone`);
        const found = await readVersion(store, version);
        const rounds = Array.from({ length: (attempted.get(key) ?? known) - known + 1 }, (_, n) => known + n);
        assert.ok(
          rounds.some((each) => found.equals(bodyOf(key, each))),
          `${key}: neither what was acknowledged nor what was being written, ${pass} collecting`,
        );
      }
      await store.garbage.drain();
    }
  } finally {
    await store.close();
  }
}

test("an overwrite whose commit fails leaves the object that was there, whatever the collector does meanwhile", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-commit-"));
  const fail = (error: unknown) => assert.fail(String(error));
  let refuse = false;
  const crash = {
    reach: (point: string) => {
      if (refuse && point === "index-committing") {
        throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
      }
    },
  };
  const store = await openStore({ directory, crash, onFailure: fail, onBackgroundError: () => {} });
  try {
    const bucket = await store.buckets.create("b", "root", 0);
    const put = async (key: string, round: number) => {
      const writer = await store.files.create(["md5"]);
      await writer.write(bodyOf(key, round));
      const file = await writer.finish();
      const added = { key, size: file.size, etag: "e", owner: "root", headers: {} };
      try {
        return await store.versions.put(bucket, { ...added, content: { kind: "file", file } });
      } finally {
        writer.settle();
      }
    };
    const keys = ["a", "b", "c"];
    await Promise.all(keys.map((key) => put(key, 1)));
    refuse = true;
    const refused = keys.map((key) => put(key, 2).catch(() => "refused"));
    const collecting = setInterval(() => store.garbage.nudge(), 0);
    assert.deepEqual(await Promise.all(refused), ["refused", "refused", "refused"]);
    clearInterval(collecting);
    refuse = false;
    await store.garbage.drain();
    for (const key of keys) {
      const version = store.versions.findLatest(bucket.id, key);
      assert.ok(version);
      assert.ok((await readVersion(store, version)).equals(bodyOf(key, 1)), key);
    }
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("readers see a write when it is on the disk, not before; a change sees those before it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-committed-"));
  const fail = (error: unknown) => assert.fail(String(error));
  let gate: PromiseWithResolvers<void> | undefined;
  const crash = { reach: (point: string) => (point === "index-committed" ? gate?.promise : undefined) };
  const store = await openStore({ directory, crash, onFailure: fail, onBackgroundError: fail });
  try {
    const bucket = await store.buckets.create("b", "root", 0);
    const put = (text: string, check?: (etag: string | undefined) => void) =>
      store.versions.put(
        bucket,
        {
          key: "k",
          size: text.length,
          etag: text,
          owner: "root",
          headers: {},
          content: { kind: "inline", data: Buffer.from(text), md5: "" },
        },
        (current) => check?.(current?.etag),
      );
    const read = () => {
      const version = store.versions.findLatest(bucket.id, "k");
      const content = store.contents.read(version?.content ?? -1);
      return [version?.etag, content && "data" in content ? content.data.toString() : undefined];
    };
    await put("old");
    for (const attempt of [1, 2]) {
      gate = Promise.withResolvers();
      const first = put("new");
      await sleep(20);
      // In the next batch, beside one that is committed and not yet on the disk.
      const second = put("newer", (current) => assert.equal(current, "new"));
      await sleep(20);
      assert.deepEqual(read(), ["old", "old"], `attempt ${attempt}`);
      assert.equal(store.buckets.get("b").bytes, 3);
      gate.resolve();
      gate = undefined;
      await first;
      await second;
      assert.deepEqual(read(), ["newer", "newer"]);
      await put("old");
    }
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});
