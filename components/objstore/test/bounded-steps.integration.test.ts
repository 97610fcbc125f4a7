// No request holds the event loop for long, however much it asks for: counted, not timed (test/loop-meter.ts).
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { applyLifecycle } from "../background/lifecycle.ts";
import { listObjects, listVersions } from "../store/listing.ts";
import { takeTurns } from "../store/turns.ts";
import { type ObjectStore, openStore } from "../store/store.ts";
import { type LoopMeter, meterLoop } from "./loop-meter.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

const MAX_MS = 20;
const DELETED = 100_000;
const FOLDED = 300_000;
const FOLDERS = 3;
const VERSIONS = 20_000;
const PARTS = 10_000;

let directory: string;

const fail = (error: unknown) => assert.fail(String(error));

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "objstore-steps-"));
  const store = await open();
  for (const name of ["deleted", "folded", "deep", "many", "open"]) {
    await store.buckets.create(name, "root", 0);
  }
  for (const name of ["deleted", "deep"]) {
    await store.buckets.set(name, "versioning", "Enabled");
  }
  // Each of these keys is hidden by a delete marker.
  await fill(store, "deleted", DELETED, "printf('k/%07d', n)", "1, 'v' || n, 0");
  await fill(store, "deleted", DELETED, "printf('k/%07d', n)", "2, 'm' || n, 1");
  await fill(store, "folded", FOLDED, `printf('folder-%d/%07d', n % ${FOLDERS}, n)`, "1, 'null', 0");
  await fill(store, "deep", VERSIONS, "'key'", "n + 1, 'v' || n, 0");
  await fill(store, "many", 1000, "printf('k/%07d', n)", "1, 'null', 0");
  await store.close();
});
after(async () => {
  await rm(directory, { recursive: true, force: true });
});

function open(): Promise<ObjectStore> {
  return openStore({ directory, onFailure: fail, onBackgroundError: fail });
}

/** Versions of a bucket by one statement; `rest`: order, id and whether they are delete markers. */
async function fill({ index, buckets }: ObjectStore, name: string, count: number, key: string, rest: string) {
  await index.mutate(() =>
    index.run(
      `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ? - 1)
       insert into versions (bucket, key, seq, version, marker, size, etag, modified, owner, headers)
       select ?, ${key}, ${rest}, 0, 'e', 0, 'root', '{}' from numbers`,
      count,
      buckets.get(name).id,
    ),
  );
}

/** An upload of as many parts as there may be. */
async function openUpload({ index, uploads, buckets }: ObjectStore, name: string, key: string): Promise<string> {
  const bucket = buckets.get(name);
  const id = await uploads.create(bucket, { key, owner: "root", headers: {} });
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${PARTS})`;
  await index.mutate(() => {
    const prefix = `2026010100-${id.slice(0, 8)}`;
    index.run(
      `${numbers} insert into files (id, size, digest, form) select ? || printf('%016d', n), 1, 'md5:', 1 from numbers`,
      prefix,
    );
    index.run(
      `${numbers} insert into parts (upload, number, size, etag, modified, file, form)
       select ?1, n, 1, 'e', 0, ?2 || printf('%016d', n), 1 from numbers`,
      id,
      prefix,
    );
    buckets.count(bucket.id, { uploadBytes: PARTS });
  });
  return id;
}

function check(meter: LoopMeter): void {
  meter.stop();
  assert.ok(meter.rows() > 0, "nothing was counted");
  assert.ok(meter.longest() <= MAX_MS, `the loop was held for ${meter.longest()} ms`);
}

test("listing 100,000 keys that are deleted, and their 200,000 versions", async (t) => {
  const store = await open();
  try {
    const { id: bucket } = store.buckets.get("deleted");
    const query = { bucket, prefix: "", delimiter: "", after: "", limit: 1000 };
    let meter = meterLoop(t);
    assert.deepEqual((await listObjects(store.index, query)).entries, []);
    check(meter);
    assert.ok(meter.rows() >= DELETED, `${meter.rows()} rows were looked at`);
    meter = meterLoop(t);
    for (let after = "", afterVersion: string | undefined, seen = 0; ;) {
      // Each page is a request.
      await takeTurns();
      const page = await listVersions(store.index, { ...query, after, afterVersion });
      seen += page.entries.length;
      [after, afterVersion] = [page.last, page.entries.at(-1)?.version];
      if (!page.truncated) {
        assert.equal(seen, 2 * DELETED);
        break;
      }
    }
    check(meter);
  } finally {
    await store.close();
  }
});

test("a delimiter passes over each folder by one look, however many keys it has", async (t) => {
  const store = await open();
  try {
    const { id: bucket } = store.buckets.get("folded");
    const meter = meterLoop(t);
    const page = await listObjects(store.index, { bucket, prefix: "", delimiter: "/", after: "", limit: 1000 });
    check(meter);
    assert.deepEqual(page.prefixes, ["folder-0/", "folder-1/", "folder-2/"]);
    assert.ok(meter.rows() <= 1001 + FOLDERS * 2, `${meter.rows()} rows were looked at`);
  } finally {
    await store.close();
  }
});

test("deletes: a thousand keys a request, old versions of a key with 20,000, and what the index looks at for one", async (t) => {
  const service = await startObjstore({ DATA_DIR: directory });
  const client = createS3Client(service);
  try {
    const meter = meterLoop(t);
    const names = Array.from({ length: 1000 }, (_, n) => ({ Key: `k/${String(n).padStart(7, "0")}` }));
    const versions = Array.from({ length: 1000 }, (_, n) => ({ Key: "key", VersionId: `v${n * 10}` }));
    for (const [Bucket, Objects] of [
      ["many", names],
      ["deep", versions],
    ] as const) {
      const { Deleted, Errors } = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
      assert.deepEqual([Deleted?.length, Errors], [1000, undefined]);
    }
    check(meter);
    const index = new DatabaseSync(join(directory, "index.db"), { readOnly: true });
    // `bucket=? AND key=?` alone is a walk through all versions of the key.
    for (const sql of meter.statements) {
      const isOfVersions = /\b(from|update) versions\b/.test(sql) && !/\blimit\b/.test(sql);
      const plan = isOfVersions ? (index.prepare(`explain query plan ${sql}`).all() as { detail: string }[]) : [];
      for (const { detail } of plan) {
        assert.match(detail, /\bseq=\?|\bversion=\?|versions_buried/, `${sql}: ${detail}`);
      }
    }
    index.close();
  } finally {
    client.destroy();
    await service.stop();
  }
});

test("uploads of 10,000 parts are aborted in steps, one by one and with their bucket", async (t) => {
  const store = await open();
  const id = await openUpload(store, "many", "aborted");
  await openUpload(store, "open", "first");
  await openUpload(store, "open", "second");
  await store.close();
  const running = await startObjstore({ DATA_DIR: directory });
  const client = createS3Client(running);
  try {
    const meter = meterLoop(t);
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket: "many", Key: "aborted", UploadId: id }));
    await client.send(new s3.DeleteBucketCommand({ Bucket: "open" }));
    check(meter);
    const { Uploads } = await client.send(new s3.ListMultipartUploadsCommand({ Bucket: "many" }));
    assert.equal(Uploads, undefined);
    await assert.rejects(client.send(new s3.HeadBucketCommand({ Bucket: "open" })), { name: "NotFound" });
  } finally {
    client.destroy();
    await running.stop();
  }
});

test("the lifecycle removes objects in steps, and comes to uploads behind a thousand that are not due", async (t) => {
  const store = await open();
  try {
    const bucket = await store.buckets.create("expiring", "root", 0);
    const abort =
      "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
    const rule = `<Rule><Status>Enabled</Status><Expiration><Days>1</Days></Expiration>${abort}</Rule>`;
    await store.buckets.set("expiring", "lifecycle", `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`);
    await fill(store, "expiring", 2000, "printf('k/%07d', n)", "1, 'null', 0");
    const create = (key: string) => store.uploads.create(bucket, { key, owner: "root", headers: {} });
    await Promise.all(Array.from({ length: 1500 }, (_, n) => create(`a/${n}`)));
    await create("z");
    await store.index.mutate(() => store.index.run("update uploads set initiated = 0 where key = 'z'"));
    const meter = meterLoop(t);
    assert.equal(await applyLifecycle(store, new AbortController().signal), 2001);
    check(meter);
    assert.equal(store.index.get<{ n: number }>("select count(*) as n from uploads where key = 'z'")?.n, 0);
  } finally {
    await store.close();
  }
});
