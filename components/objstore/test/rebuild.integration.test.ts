import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { rebuildIndex } from "../store/rebuild/rebuild-index.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

const Bucket = "vault";
const LARGE = Buffer.alloc(50_000, "large object;");
const PART = Buffer.alloc(5 << 20, "part;");
const KEYS = { OBJSTORE_ENCRYPTION_KEYS: "one:a-key-of-the-tests-0" };
const customerKey = Buffer.alloc(32, "k");
const CUSTOMER = {
  SSECustomerAlgorithm: "AES256",
  SSECustomerKey: customerKey.toString("base64"),
  SSECustomerKeyMD5: createHash("md5").update(customerKey).digest("base64"),
};

interface Kept {
  readonly key: string;
  readonly version: string;
  readonly owner: string;
  readonly acl: string | null;
  readonly lock: string | null;
  readonly encryption: string | null;
  readonly tags: string | null;
  readonly etag: string;
  readonly checksum: string | null;
  readonly parts: number | null;
}

function readRows(directory: string): readonly Kept[] {
  const index = new DatabaseSync(join(directory, "index.db"), { readOnly: true });
  const rows = index
    .prepare(
      "select key, version, owner, acl, lock, encryption, tags, etag, checksum, parts from versions where size > 40000 order by 1, 2",
    )
    .all();
  index.close();
  return rows as unknown as readonly Kept[];
}

test("without a journal a rebuild gives back lists, locks, tags and encryption as they were changed last, and says which buckets lack small objects", async () => {
  const volume = await mkdtemp(join(tmpdir(), "objstore-rebuild-"));
  const DATA_DIR = join(volume, "data");
  let store = await startObjstore({ DATA_DIR, ...KEYS });
  let client = createS3Client(store);
  try {
    await client.send(
      new s3.CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true, ObjectOwnership: "ObjectWriter" }),
    );
    const put = (Key: string, more: Partial<s3.PutObjectCommandInput>) =>
      client.send(new s3.PutObjectCommand({ Bucket, Key, Body: LARGE, ...more }));
    await put("encrypted", { ServerSideEncryption: "AES256", Tagging: "a=1" });
    await put("of-customer", CUSTOMER);
    await put("public", { ACL: "public-read" });
    const until = new Date(Date.now() + 86_400_000);
    await put("held", { ObjectLockMode: "COMPLIANCE", ObjectLockRetainUntilDate: until });
    await put("legal", { ObjectLockLegalHoldStatus: "ON" });
    await client.send(
      new s3.CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/public`, ACL: "authenticated-read" }),
    );
    const upload = { Bucket, Key: "parts" };
    const { UploadId } = await client.send(
      new s3.CreateMultipartUploadCommand({ ...upload, ServerSideEncryption: "AES256", ACL: "public-read" }),
    );
    const { ETag } = await client.send(new s3.UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: PART }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await client.send(new s3.CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    const tag = (Key: string, Value: string) =>
      client.send(new s3.PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet: [{ Key: "state", Value }] } }));
    // At once: each writes what the version is, and the last of them counts.
    await Promise.all(["1", "2", "3", "4"].map((value) => tag("parts", value)));
    await tag("copy", "changed");
    await tag("public", "changed");
    await client.send(new s3.PutObjectAclCommand({ Bucket, Key: "public", ACL: "private" }));
    await client.send(new s3.PutObjectLegalHoldCommand({ Bucket, Key: "public", LegalHold: { Status: "ON" } }));
    await client.send(new s3.DeleteObjectTaggingCommand({ Bucket, Key: "encrypted" }));
    await client.send(
      new s3.PutObjectRetentionCommand({
        Bucket,
        Key: "held",
        Retention: { Mode: "COMPLIANCE", RetainUntilDate: new Date(until.getTime() + 86_400_000) },
      }),
    );
    for (const Key of ["small/1", "small/2", "small/3"]) {
      await put(Key, { Body: "twelve bytes" });
    }
    client.destroy();
    await store.stop();
    const before = readRows(DATA_DIR);
    assert.equal(before.length, 7);
    for (const name of ["index.db", "index.db-wal", "index.db-shm", "journal"]) {
      await rm(join(DATA_DIR, name), { recursive: true, force: true });
    }
    const report = await rebuildIndex(DATA_DIR);
    assert.equal(report.found, 7);
    assert.deepEqual(report.short, [{ bucket: Bucket, objects: 3, bytes: 36 }]);
    assert.deepEqual(readRows(DATA_DIR), before);
    assert.equal(before.find(({ key }) => key === "encrypted")?.tags, null);
    assert.match(before.find(({ key }) => key === "public")?.lock ?? "", /"hold":true/);

    store = await startObjstore({ DATA_DIR, ...KEYS });
    client = createS3Client(store);
    const read = async (Key: string, more: Partial<s3.GetObjectCommandInput> = {}) => {
      const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key, ...more }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    };
    assert.deepEqual(await read("encrypted"), LARGE);
    assert.deepEqual(await read("of-customer", CUSTOMER), LARGE);
    assert.deepEqual(await read("parts"), PART);
    await assert.rejects(read("of-customer"), { name: "InvalidRequest" });
    for (const Key of ["held", "legal"]) {
      const { VersionId } = await client.send(new s3.HeadObjectCommand({ Bucket, Key }));
      await assert.rejects(client.send(new s3.DeleteObjectCommand({ Bucket, Key, VersionId })), {
        name: "AccessDenied",
      });
    }
    const { Grants } = await client.send(new s3.GetObjectAclCommand({ Bucket, Key: "copy" }));
    assert.ok(Grants?.some(({ Grantee }) => Grantee?.URI?.endsWith("AuthenticatedUsers")));
  } finally {
    client.destroy();
    await store.stop();
    await rm(volume, { recursive: true, force: true });
  }
});

test("without a journal a rebuild after a change of the encryption key needs the new key alone", async () => {
  const volume = await mkdtemp(join(tmpdir(), "objstore-rekeyed-"));
  const DATA_DIR = join(volume, "data");
  const start = (keys: string) => startObjstore({ DATA_DIR, OBJSTORE_ENCRYPTION_KEYS: keys });
  let store: Awaited<ReturnType<typeof start>> | undefined = await start("old:the-old-key-of-the-tests");
  let client = createS3Client(store);
  const stop = async () => {
    client.destroy();
    await store?.stop();
    store = undefined;
  };
  try {
    await client.send(new s3.CreateBucketCommand({ Bucket }));
    await client.send(new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
    const put = (Body: Buffer) =>
      client.send(new s3.PutObjectCommand({ Bucket, Key: "k", Body, ServerSideEncryption: "AES256", Tagging: "a=1" }));
    const first = Buffer.alloc(LARGE.length, "first");
    const { VersionId } = await put(first);
    await put(LARGE);
    const copy = (Key: string, CopySource: string) =>
      client.send(
        new s3.CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${CopySource}`, TaggingDirective: "COPY" }),
      );
    await copy("copy", "k");
    const upload = { Bucket, Key: "parts" };
    const encrypted = { ...upload, ServerSideEncryption: "AES256", ChecksumAlgorithm: "CRC32" } as const;
    const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(encrypted));
    const part = await client.send(
      new s3.UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: PART, ChecksumAlgorithm: "CRC32" }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32 }] };
    await client.send(new s3.CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    await copy("copy-of-parts", "parts");
    await stop();

    store = await start("new:the-new-key-of-the-tests,old:the-old-key-of-the-tests");
    const index = new DatabaseSync(join(DATA_DIR, "index.db"), { readOnly: true });
    const old = index.prepare("select count(*) as n from versions where json_extract(encryption, '$.key.by') = 'old'");
    await waitUntil("all keys are encrypted by the new one", () => old.get()?.["n"] === 0);
    index.close();
    await stop();
    const before = readRows(DATA_DIR);
    for (const name of ["index.db", "index.db-wal", "index.db-shm", "journal"]) {
      await rm(join(DATA_DIR, name), { recursive: true, force: true });
    }
    await rebuildIndex(DATA_DIR);
    assert.deepEqual(readRows(DATA_DIR), before);

    store = await start("new:the-new-key-of-the-tests");
    client = createS3Client(store);
    for (const [Key, id, content] of [
      ["k", undefined, LARGE],
      ["k", VersionId, first],
      ["copy", undefined, LARGE],
      ["parts", undefined, PART],
      ["copy-of-parts", undefined, PART],
    ] as const) {
      const { Body, TagCount } = await client.send(new s3.GetObjectCommand({ Bucket, Key, VersionId: id }));
      assert.ok(content.equals((await Body?.transformToByteArray()) ?? Buffer.of()), Key);
      assert.equal(TagCount, content === PART ? undefined : 1);
    }
  } finally {
    await stop();
    await rm(volume, { recursive: true, force: true });
  }
});
