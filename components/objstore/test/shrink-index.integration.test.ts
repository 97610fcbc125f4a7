import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { shrinkIndex } from "../background/shrink-index.ts";
import { openStore } from "../store/store.ts";

const fail = (error: unknown) => assert.fail(String(error));

test("deleting small objects gives their space back to the disk", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-space-"));
  const open = () => openStore({ directory, onFailure: fail, onBackgroundError: fail });
  let store = await open();
  try {
    const bucket = await store.buckets.create("b", "root", 0);
    const keys = Array.from({ length: 5000 }, (_, n) => `key/${n}`);
    const data = randomBytes(8000);
    const added = { size: data.length, etag: "e", owner: "root", headers: {} };
    await store.index.mutate(() => {
      for (const key of keys) {
        store.versions.insert(bucket.id, { ...added, key, content: { kind: "inline", data, md5: "" } });
      }
    });
    await store.close();
    store = await open();
    const { size: full } = await stat(join(directory, "index.db"));
    assert.ok(full > 5000 * 8000);
    const kept = keys.splice(0, 100);
    for (let at = 0; at < keys.length; at += 500) {
      await store.index.mutate(() => {
        for (const key of keys.slice(at, at + 500)) {
          store.versions.remove(bucket.id, key, undefined);
        }
      });
    }
    assert.ok((await shrinkIndex(store.index, new AbortController().signal)) > 5000);
    assert.equal(await shrinkIndex(store.index, new AbortController().signal), 0, "nothing is left to give");
    for (const key of kept) {
      const version = store.versions.findLatest(store.buckets.get("b").id, key);
      assert.deepEqual(store.contents.read(version?.content ?? -1), { data });
    }
    await store.close();
    const { size } = await stat(join(directory, "index.db"));
    assert.ok(size < full / 5, `the index has ${size} bytes, it had ${full}`);
    store = await open();
    assert.equal(store.buckets.get("b").objects, kept.length);
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});
