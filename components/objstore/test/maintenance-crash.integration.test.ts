import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { CrashPoint } from "../store/crash-points.ts";
import { type ObjectStore, openStore } from "../store/store.ts";

const POINTS: readonly CrashPoint[] = ["index-applied", "index-committed", "index-durable", "garbage-unlinked"];
const DAY = 24 * 3600 * 1000;
const fail = (error: unknown) => assert.fail(String(error));
let folder: string;
let template: string;

/** 900 expired keys and 30 that stay, small and in files, with an old version each, one open upload, one damaged file. */
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "objstore-maintenance-"));
  template = join(folder, "template");
  const store = await openStore({
    directory: template,
    now: () => Date.now() - 10 * DAY,
    onFailure: fail,
    onBackgroundError: fail,
  });
  const bucket = await store.buckets.create("b", "root", 0);
  await store.buckets.set("b", "versioning", "Enabled");
  const rule = `<Rule><Status>Enabled</Status><Filter><Prefix>old/</Prefix></Filter><Expiration><Days>1</Days></Expiration>
    <NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>
    <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>`;
  await store.buckets.set("b", "lifecycle", `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`);
  await Promise.all(Array.from({ length: 900 }, (_, n) => putSmall(store, bucket, `old/${n}`)));
  for (let n = 0; n < 30; n += 1) {
    await putFile(store, bucket, `old/file${n % 20}`);
    await putFile(store, bucket, `new/file${n}`);
  }
  await store.uploads.create(bucket, { key: "old/upload", owner: "root", headers: {} });
  await store.close();
  const hour = (await readdir(join(template, "content")))[0] ?? "";
  const file = (await readdir(join(template, "content", hour)))[0] ?? "";
  await writeFile(join(template, "content", hour, file), "rot");
});
after(() => rm(folder, { recursive: true, force: true }));

type Bucket = ReturnType<ObjectStore["buckets"]["get"]>;

function putSmall(store: ObjectStore, bucket: Bucket, key: string) {
  const content = { kind: "inline", data: Buffer.from(key), md5: "" } as const;
  return store.versions.put(bucket, { key, size: key.length, etag: "e", owner: "root", headers: {}, content });
}

async function putFile(store: ObjectStore, bucket: Bucket, key: string): Promise<void> {
  const writer = await store.files.create(["md5"]);
  await writer.write(Buffer.alloc(50_000, key));
  const file = await writer.finish();
  const added = { key, size: file.size, etag: "e", owner: "root", headers: {} };
  await store.versions.put(bucket, { ...added, content: { kind: "file", file } });
  writer.settle();
}

test("killed at any point of lifecycle or scrub, the store stays consistent, and the next run finishes", async (t) => {
  for (const point of POINTS) {
    for (const nth of [1, 2, 5]) {
      await t.test(`${point}, time ${nth}`, async () => {
        const directory = join(folder, `${point}-${nth}`);
        await cp(template, directory, { recursive: true });
        await run(directory, point, nth);
        await check(directory, false);
        assert.equal(await run(directory, "none", 0), 0);
        await check(directory, true);
        await rm(directory, { recursive: true });
      });
    }
  }
});

async function run(directory: string, point: string, nth: number): Promise<number | null> {
  const child = fork(join(import.meta.dirname, "maintenance-crash-child.ts"), [directory, point, String(nth)]);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  assert.ok(code === 0 || signal === "SIGKILL", `${code} ${signal}`);
  return code;
}

async function check(directory: string, isDone: boolean): Promise<void> {
  const store = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  try {
    await store.garbage.drain();
    const { id, objects, bytes, upload_bytes: uploadBytes } = store.buckets.get("b");
    const counted = store.index.get<{ bytes: number }>(
      "select coalesce(sum(size), 0) as bytes from versions where bucket = ?",
      id,
    );
    const visible = store.index.get<{ count: number }>(
      "select count(*) as count from versions v where bucket = ? and marker = 0 and seq = (select max(seq) from versions w where w.bucket = v.bucket and w.key = v.key)",
      id,
    );
    assert.deepEqual([objects, bytes, uploadBytes], [visible?.count, counted?.bytes, 0], "usage");
    for (let n = 0; n < 30; n += 1) {
      assert.equal(store.versions.findLatest(id, `new/file${n}`)?.marker, 0, "what stays is there");
    }
    const known = store.index.all<{ id: string }>("select id from files").map((row) => row.id);
    const onDisk: string[] = [];
    for (const hour of await readdir(join(directory, "content"))) {
      onDisk.push(...(await readdir(join(directory, "content", hour))).map((name) => `${hour}-${name}`));
    }
    assert.deepEqual(onDisk.sort(), known.sort(), "files and index agree");
    const lost = store.index.all(
      "select v.key from versions v left join contents c on c.id = v.content where v.marker = 0 and c.id is null",
    );
    assert.deepEqual(lost, [], "every version has its content");
    if (isDone) {
      assert.equal(objects, 30);
      assert.equal(store.index.all("select 1 from uploads").length, 0);
    }
  } finally {
    await store.close();
  }
}
