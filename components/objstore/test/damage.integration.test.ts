import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { rebuildIndex } from "../store/rebuild/rebuild-index.ts";
import { openStore } from "../store/store.ts";
import { callAdmin } from "./call-admin.ts";
import { readVersion } from "./crash-support.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

const Bucket = "damage";
const fail = (error: unknown) => assert.fail(String(error));
const LARGE = Buffer.alloc(300_000, "large object;");
const PART = Buffer.alloc(5 << 20, "part;");
let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;
let volume: string;

before(async () => {
  volume = await mkdtemp(join(tmpdir(), "objstore-damage-"));
  store = await startObjstore({ DATA_DIR: join(volume, "live") });
  client = createS3Client(store, { maxAttempts: 1 });
  await client.send(new s3.CreateBucketCommand({ Bucket }));
});
after(async () => {
  client.destroy();
  await store.stop();
  await rm(volume, { recursive: true, force: true });
});

const read = async (Key: string, Range?: string) => {
  try {
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key, Range }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    return (error as Error).name;
  }
};

/** Changes one bit of the newest content file. */
async function flipBit(directory: string, at: number): Promise<void> {
  const hours = (await readdir(join(directory, "content"))).sort();
  const files = (
    await Promise.all(
      hours.map(async (hour) =>
        (await readdir(join(directory, "content", hour))).map((name) => join(directory, "content", hour, name)),
      ),
    )
  ).flat();
  assert.equal(files.length, 1);
  const file = await open(files[0] as string, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  byte[0] = (byte[0] as number) ^ 4;
  await file.write(byte, 0, 1, at);
  await file.close();
}

test("a flipped bit on the disk is an error, never bytes; it is shown, and nobody copies it", async () => {
  await client.send(new s3.PutObjectCommand({ Bucket, Key: "large", Body: LARGE }));
  assert.deepEqual(await read("large"), LARGE);
  await flipBit(join(volume, "live"), 200_000);
  assert.equal(typeof (await read("large", "bytes=199000-201000")), "string");
  assert.deepEqual(await read("large", "bytes=10-999"), LARGE.subarray(10, 1000), "sound blocks are served");
  assert.equal(typeof (await read("large")), "string");
  // Noted once the reader has its answer.
  const damaged = await waitUntil("the damage is shown", async () => {
    const { body } = await callAdmin(store, "GET", "/api/server");
    return body.damaged.length === 0 ? undefined : body.damaged;
  });
  assert.equal(damaged.length, 1);
  assert.match(damaged[0].what, /196608/);
  const source = { Bucket, CopySource: `${Bucket}/large` };
  await assert.rejects(client.send(new s3.CopyObjectCommand({ ...source, Key: "copy" })), { name: "InternalError" });
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "parts" }));
  await assert.rejects(
    client.send(new s3.UploadPartCopyCommand({ ...source, Key: "parts", UploadId, PartNumber: 1 })),
    { name: "InternalError" },
  );
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key: "parts", UploadId }));
  await client.send(new s3.PutObjectCommand({ Bucket, Key: "large", Body: LARGE }));
  assert.deepEqual(await read("large"), LARGE, "uploaded again it is whole");
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: "large" }));
});

test("a flipped bit of a small object, which lies in the index, is an error too", async () => {
  const directory = join(volume, "small");
  const opened = () => openStore({ directory, onFailure: fail, onBackgroundError: fail });
  const first = await opened();
  const bucket = await first.buckets.create("b", "root", 0);
  const data = Buffer.alloc(3000, "small");
  const added = { key: "k", size: data.length, etag: "e", owner: "root", headers: {} };
  const version = await first.versions.put(bucket, { ...added, content: { kind: "inline", data, md5: "" } });
  await first.close();
  const index = new DatabaseSync(join(directory, "index.db"));
  index.exec("update contents set data = cast(replace(cast(data as text), 'small', 'smali') as blob)");
  index.close();
  const second = await opened();
  assert.throws(() => second.contents.read(version.content ?? -1), { name: "Error", message: /damaged/ });
  await second.close();
});

test("a volume has one process; another is refused and told why", async () => {
  await assert.rejects(
    openStore({ directory: join(volume, "live"), onFailure: fail, onBackgroundError: fail }),
    /Another process has the volume/,
  );
  const child = fork(join(import.meta.dirname, "crash-child.ts"), [join(volume, "live"), "none", "0"], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, "exit")) as [number];
  assert.notEqual(code, 0);
  assert.match(said, /Another process has the volume/);
});

/** Objects of every kind, with what they are; gives the folder of the stopped store. */
async function makeVolume(name: string): Promise<{ directory: string; expected: ReadonlyMap<string, Buffer> }> {
  const directory = join(volume, name);
  const own = await startObjstore({ DATA_DIR: directory });
  const using = createS3Client(own);
  const expected = new Map<string, Buffer>();
  await using.send(new s3.CreateBucketCommand({ Bucket: "plain" }));
  await using.send(new s3.CreateBucketCommand({ Bucket: "versioned" }));
  await using.send(
    new s3.PutBucketVersioningCommand({ Bucket: "versioned", VersioningConfiguration: { Status: "Enabled" } }),
  );
  for (let n = 0; n < 20; n += 1) {
    const Body = Buffer.alloc(40_000 + n, `object ${n};`);
    const Key = `files/${n}`;
    const Metadata = { n: String(n) };
    await using.send(new s3.PutObjectCommand({ Bucket: "plain", Key, Body: "overwritten".repeat(9000) }));
    await using.send(new s3.PutObjectCommand({ Bucket: "plain", Key, Body, Metadata, ContentType: "text/plain" }));
    expected.set(`plain/${Key}`, Body);
    const { VersionId } = await using.send(new s3.PutObjectCommand({ Bucket: "versioned", Key: "same", Body }));
    expected.set(`versioned/same?${VersionId}`, Body);
  }
  const copy = { Bucket: "plain", Key: "copy", CopySource: "plain/files/3" };
  await using.send(new s3.CopyObjectCommand(copy));
  expected.set("plain/copy", expected.get("plain/files/3") as Buffer);
  const { UploadId } = await using.send(new s3.CreateMultipartUploadCommand({ Bucket: "plain", Key: "parts" }));
  const Parts = [];
  for (const PartNumber of [1, 2]) {
    const part = { Bucket: "plain", Key: "parts", UploadId, PartNumber, Body: PART };
    Parts.push({ PartNumber, ETag: (await using.send(new s3.UploadPartCommand(part))).ETag });
  }
  await using.send(
    new s3.CompleteMultipartUploadCommand({ Bucket: "plain", Key: "parts", UploadId, MultipartUpload: { Parts } }),
  );
  expected.set("plain/parts", Buffer.concat([PART, PART]));
  using.destroy();
  await own.stop();
  return { directory, expected };
}

async function checkVolume(directory: string, expected: ReadonlyMap<string, Buffer>): Promise<void> {
  const opened = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  try {
    await opened.garbage.drain();
    for (const [name, body] of expected) {
      const [, bucket = "", key = "", version] = /^(\w+)\/([^?]+)(?:\?(.+))?$/.exec(name) ?? [];
      const { id } = opened.buckets.get(bucket);
      const found =
        version === undefined ? opened.versions.findLatest(id, key) : opened.versions.find(id, key, version);
      assert.ok(found, `${name} is lost`);
      assert.ok((await readVersion(opened, found)).equals(body), name);
    }
    assert.equal(opened.versions.findLatest(opened.buckets.get("versioned").id, "same")?.size, 40_019);
    const { headers } = opened.versions.findLatest(opened.buckets.get("plain").id, "files/7") ?? {};
    assert.deepEqual(JSON.parse(headers ?? ""), { "content-type": "text/plain", "x-amz-meta-n": "7" });
    assert.equal(opened.buckets.get("plain").objects, 22);
  } finally {
    await opened.close();
  }
}

test("content without an index: the start is refused, nothing is deleted, and a rebuild brings everything back", async () => {
  const { directory, expected } = await makeVolume("lost");
  for (const name of ["index.db", "index.db-wal", "index.db-shm"]) {
    await rm(join(directory, name), { force: true });
  }
  const start = () => openStore({ directory, onFailure: fail, onBackgroundError: fail });
  await assert.rejects(start, /holds content and no index.*swath objstore rebuild/);
  await writeFile(join(directory, "index.db"), "");
  await assert.rejects(start, /holds content and no index/);
  // As a release before journals leaves it.
  await rm(join(directory, "journal"), { recursive: true });
  const report = await rebuildIndex(directory);
  assert.equal(report.found, expected.size);
  await checkVolume(directory, expected);
});

test("a damaged page of the index ends the process with what to do; a rebuild brings everything back", async () => {
  const { directory, expected } = await makeVolume("page");
  const index = new DatabaseSync(join(directory, "index.db"));
  index.exec("pragma wal_checkpoint(truncate); pragma journal_mode = delete");
  const { rootpage } = index.prepare("select rootpage from sqlite_schema where name = 'versions'").get() as {
    rootpage: number;
  };
  index.close();
  const file = await open(join(directory, "index.db"), "r+");
  await file.write(Buffer.alloc(4096, 0xee), 0, 4096, (rootpage - 1) * 4096);
  await file.close();
  await cp(directory, `${directory}-copy`, { recursive: true });
  const failures: string[] = [];
  const opened = await openStore({
    directory,
    onFailure: (error) => failures.push(error.message),
    onBackgroundError: () => {},
  });
  assert.throws(() => opened.versions.findLatest(opened.buckets.get("plain").id, "files/1"));
  assert.match(failures[0] ?? "", /index of the object store is damaged.*swath objstore rebuild/);
  await assert.rejects(opened.buckets.create("other", "root", 0), /damaged/, "nothing is written to it any more");
  await opened.close().catch(() => {});
  await assert.rejects(
    openStore({ directory, onFailure: fail, onBackgroundError: fail }),
    /damaged.*swath objstore rebuild/,
  );
  // As a release before journals leaves it.
  await rm(join(directory, "journal"), { recursive: true });
  const report = await rebuildIndex(directory);
  assert.deepEqual(report.lost, ["versions"]);
  await checkVolume(directory, expected);
});

test("a damaged description of the tables is told at the start, with what to do; a rebuild brings everything back", async () => {
  const { directory, expected } = await makeVolume("schema");
  const index = new DatabaseSync(join(directory, "index.db"));
  index.exec("pragma wal_checkpoint(truncate); pragma journal_mode = delete");
  index.close();
  const file = await open(join(directory, "index.db"), "r+");
  // Behind the header, where the first page tells where the tables are.
  await file.write(Buffer.alloc(2000, 0xee), 0, 2000, 100);
  await file.close();
  const start = () => openStore({ directory, onFailure: fail, onBackgroundError: fail });
  for (const time of ["the first start", "the next"]) {
    await assert.rejects(start, /index of the object store is damaged.*swath objstore rebuild/, time);
  }
  // As a release before journals leaves it.
  await rm(join(directory, "journal"), { recursive: true });
  const report = await rebuildIndex(directory);
  assert.deepEqual(report.lost, ["every table"]);
  assert.ok(report.setAside !== undefined && existsSync(join(report.setAside, "index.db")));
  await checkVolume(directory, expected);
});
