import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

const MEBIBYTE = 2 ** 20;
const RESERVED = 16;
const Bucket = "full";

/** A disk of 64 MiB of our own; undefined where none can be mounted. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "objstore-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], { stdio: "ignore" });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

const disk = mountSmallDisk();
const options = disk === undefined ? { skip: "needs the right to mount a small disk (root)" } : {};
let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;

before(async () => {
  if (disk !== undefined) {
    store = await startObjstore({ DATA_DIR: join(disk, "data"), OBJSTORE_RESERVED_MIB: String(RESERVED) });
    client = createS3Client(store, { maxAttempts: 1 });
    await client.send(new s3.CreateBucketCommand({ Bucket }));
  }
});
after(async () => {
  if (disk !== undefined) {
    client.destroy();
    await store.stop();
    execFileSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  }
});

const put = (Key: string, bytes: number) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(bytes, Key) }));
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "written",
    (error: Error) => error.name,
  );
/** The last is the SDK's name for a connection that ends while it goes on sending what was refused. */
const isExpected = (each: string) => ["InsufficientStorage", "written", "TimeoutError"].includes(each);
const freeMib = () => {
  const { bavail, bsize } = statfsSync(disk ?? "/");
  return (bavail * bsize) / MEBIBYTE;
};

test(
  "writes are refused before the disk is full, from many at once too; reads and deletes go on",
  options,
  async () => {
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => outcome(put(`k${n}`, 3 * MEBIBYTE))));
    assert.ok(outcomes.includes("InsufficientStorage") && outcomes.includes("written"), outcomes.join(" "));
    assert.ok(outcomes.every(isExpected), outcomes.join(" "));
    assert.ok(freeMib() >= RESERVED - 1, `${freeMib()} MiB are free, ${RESERVED} are reserved`);
    for (let n = 0; (await outcome(put(`small${n}`, 30_000))) === "written"; n += 1) {
      assert.ok(n < 5000, "small objects must not fill the disk either");
    }
    assert.ok(freeMib() >= RESERVED - 4, `${freeMib()} MiB are free after small objects`);
    const first = outcomes.indexOf("written");
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: `k${first}` }));
    assert.equal((await Body?.transformToByteArray())?.length, 3 * MEBIBYTE);
    for (const [n, each] of outcomes.entries()) {
      if (each === "written") {
        await client.send(new s3.DeleteObjectCommand({ Bucket, Key: `k${n}` }));
      }
    }
    await waitUntil("there is room again", async () => (await outcome(put("again", 3 * MEBIBYTE))) === "written");
  },
);

test(
  "when somebody else fills the disk, writes fail without harm, and work again once there is room",
  options,
  async () => {
    await put("kept", 100_000);
    const filler = join(disk ?? "", "filler");
    const fill = async () => {
      await writeFile(filler, Buffer.alloc(Math.max(0, Math.floor((freeMib() - 0.05) * MEBIBYTE))));
    };
    // Between the guard's look at the disk and the write: the guard has just seen plenty of room.
    await put("look", 10);
    await fill();
    const results = [
      await outcome(put("large", 2 * MEBIBYTE)),
      ...(await Promise.all(Array.from({ length: 20 }, (_, n) => outcome(put(`inline${n}`, 30_000))))),
    ];
    assert.ok(!results.includes("written") || results.includes("InsufficientStorage"), results.join(" "));
    assert.ok(results.every(isExpected), results.join(" "));
    // Deleting makes room, however full the disk is.
    await fill();
    for (const n of results.keys()) {
      await client.send(new s3.DeleteObjectCommand({ Bucket, Key: `inline${n}` }));
    }
    const doomed = Array.from({ length: 20 }, (_, n) => ({ Key: `k${n}` }));
    const { Errors } = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: doomed } }));
    assert.deepEqual(Errors ?? [], []);
    await rm(filler);
    await waitUntil("there is room again", async () => (await outcome(put("after", 2 * MEBIBYTE))) === "written");
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: "kept" }));
    assert.ok(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(Buffer.alloc(100_000, "kept")));
    for (const [n, result] of results.slice(1).entries()) {
      const read = await outcome(client.send(new s3.GetObjectCommand({ Bucket, Key: `inline${n}` })));
      assert.equal(read, "NoSuchKey", `inline${n}: ${result}, deleted, then ${read}`);
    }
  },
);
