import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

const Bucket = "secrets";
const OLD = "old:the-first-key-of-the-tests";
const NEW = "the-second-key-has-no-name";
const TEXT = "plain text that must not be on the disk;";
const SMALL = Buffer.from(TEXT);
const LARGE = Buffer.alloc(200_000, TEXT);
const PART = Buffer.alloc(5 << 20, TEXT);

let volume: string;
let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;

async function start(keys: string): Promise<void> {
  store = await startObjstore({ DATA_DIR: join(volume, "data"), OBJSTORE_ENCRYPTION_KEYS: keys });
  client = createS3Client(store, { maxAttempts: 1 });
}

async function stop(): Promise<void> {
  client.destroy();
  await store.stop();
}

before(async () => {
  volume = await mkdtemp(join(tmpdir(), "objstore-encryption-"));
  await start(OLD);
  await client.send(new s3.CreateBucketCommand({ Bucket }));
});
after(async () => {
  await stop();
  await rm(volume, { recursive: true, force: true });
});

type Customer = Pick<s3.GetObjectCommandInput, "SSECustomerAlgorithm" | "SSECustomerKey" | "SSECustomerKeyMD5">;

function toCustomer(letter: string): Customer {
  const key = Buffer.alloc(32, letter);
  return {
    SSECustomerAlgorithm: "AES256",
    SSECustomerKey: key.toString("base64"),
    SSECustomerKeyMD5: createHash("md5").update(key).digest("base64"),
  };
}

function toSource({ SSECustomerAlgorithm, SSECustomerKey, SSECustomerKeyMD5 }: Customer) {
  return {
    CopySourceSSECustomerAlgorithm: SSECustomerAlgorithm,
    CopySourceSSECustomerKey: SSECustomerKey,
    CopySourceSSECustomerKeyMD5: SSECustomerKeyMD5,
  };
}

const put = (Key: string, Body: Buffer, more: Partial<s3.PutObjectCommandInput>) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Key: string, more: Partial<s3.GetObjectCommandInput> = {}) => {
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key, ...more }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};

/** Whether the volume holds the text anywhere, readable. */
async function isOnDisk(): Promise<boolean> {
  const entries = await readdir(join(volume, "data"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(files.map(async (file) => (await readFile(file)).includes(TEXT)));
  return found.includes(true);
}

async function makeParts(Key: string, more: Customer | { readonly ServerSideEncryption?: "AES256" }): Promise<void> {
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key, ...more }));
  const customer = "SSECustomerKey" in more ? more : {};
  const Parts = [];
  for (const PartNumber of [1, 2]) {
    const part = { Bucket, Key, UploadId, PartNumber, Body: PART, ...customer };
    Parts.push({ PartNumber, ETag: (await client.send(new s3.UploadPartCommand(part))).ETag });
  }
  await client.send(
    new s3.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, ...customer }),
  );
}

test("SSE-S3 and SSE-C: nothing readable is on the disk, ranges and parts are read, keys are asked for", async () => {
  const key = toCustomer("k");
  await put("sse/small", SMALL, { ServerSideEncryption: "AES256" });
  await put("sse/large", LARGE, { ServerSideEncryption: "AES256" });
  await put("customer/small", SMALL, key);
  await put("customer/large", LARGE, key);
  await makeParts("sse/parts", { ServerSideEncryption: "AES256" });
  await makeParts("customer/parts", key);
  assert.equal(await isOnDisk(), false);
  assert.deepEqual(await read("sse/small"), SMALL);
  assert.deepEqual(await read("sse/large", { Range: "bytes=70001-140000" }), LARGE.subarray(70_001, 140_001));
  assert.deepEqual(await read("customer/large", { ...key, Range: "bytes=5-9" }), LARGE.subarray(5, 10));
  assert.deepEqual(await read("sse/parts", { PartNumber: 2 }), PART);
  assert.deepEqual(await read("customer/parts", key), Buffer.concat([PART, PART]));
  await assert.rejects(read("customer/small"), { name: "InvalidRequest" });
  await assert.rejects(read("customer/small", toCustomer("x")), { name: "AccessDenied" });
});

test("copies: between all kinds of encryption the bytes are the same, and stay encrypted where that is asked", async () => {
  const [one, two] = [toCustomer("k"), toCustomer("2")];
  const kinds = [
    ["sse", {}, { ServerSideEncryption: "AES256" }, {}],
    ["customer", toSource(one), two, two],
  ] as const;
  for (const [kind, source, target, reading] of kinds) {
    for (const name of ["small", "large", "parts"]) {
      for (const [other, wanted, needed] of [
        [`${kind}-again`, target, reading],
        [`${kind}-sse`, { ServerSideEncryption: "AES256" }, {}],
      ] as const) {
        const copy = { Bucket, Key: `${other}/${name}`, CopySource: `${Bucket}/${kind}/${name}`, ...source, ...wanted };
        await client.send(new s3.CopyObjectCommand(copy as s3.CopyObjectCommandInput));
        const expected = name === "small" ? SMALL : name === "large" ? LARGE : Buffer.concat([PART, PART]);
        assert.deepEqual(await read(`${other}/${name}`, needed), expected, `${kind}/${name} as ${other}`);
      }
    }
  }
  await assert.rejects(
    client.send(new s3.CopyObjectCommand({ Bucket, Key: "no", CopySource: `${Bucket}/customer/small` })),
    { name: "InvalidRequest" },
  );
  assert.equal(await isOnDisk(), false);
});

test("an object is encrypted by a copy onto itself, which changes nothing else", async () => {
  const copy = (Key: string, more: object) =>
    client.send(new s3.CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${Key}`, ...more }));
  for (const [name, bytes] of [
    ["small", randomBytes(100)],
    ["large", randomBytes(200_000)],
  ] as const) {
    const Key = `later/${name}`;
    await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: bytes, Metadata: { of: "before" } }));
    await assert.rejects(copy(Key, {}), { name: "InvalidRequest" });
    await copy(Key, { ServerSideEncryption: "AES256" });
    const found = await client.send(new s3.HeadObjectCommand({ Bucket, Key }));
    assert.deepEqual([found.ServerSideEncryption, found.Metadata], ["AES256", { of: "before" }]);
    assert.deepEqual(await read(Key), bytes);
  }
});

test("the scrub takes encrypted content for what it is: sound", async () => {
  assert.equal((await callAdmin(store, "POST", "/api/scrub")).status, 202);
  for (;;) {
    const { body } = await callAdmin(store, "GET", "/api/server");
    if (body.scrub.finished !== undefined) {
      assert.ok(body.scrub.checked > 10);
      assert.deepEqual(body.scrub.damaged, []);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("rotation: with a new key in front all data keys are encrypted by it, and the old key can go", async () => {
  const { UploadId } = await client.send(
    new s3.CreateMultipartUploadCommand({ Bucket, Key: "open", ServerSideEncryption: "AES256" }),
  );
  await stop();
  await start(`${NEW},${OLD}`);
  const index = new DatabaseSync(join(volume, "data/index.db"), { readOnly: true });
  const count = () =>
    Number(
      index
        .prepare(
          `select (select count(*) from versions where json_extract(encryption, '$.key.by') = 'old')
           + (select count(*) from uploads where json_extract(encryption, '$.key.by') = 'old') as count`,
        )
        .get()?.["count"],
    );
  while (count() > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  index.close();
  await stop();
  await start(NEW);
  assert.deepEqual(await read("sse/small"), SMALL);
  assert.deepEqual(await read("sse/large"), LARGE);
  assert.deepEqual(await read("sse/parts"), Buffer.concat([PART, PART]));
  const part = { Bucket, Key: "open", UploadId, PartNumber: 1, Body: SMALL };
  const { ETag } = await client.send(new s3.UploadPartCommand(part));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await client.send(new s3.CompleteMultipartUploadCommand({ Bucket, Key: "open", UploadId, MultipartUpload }));
  assert.deepEqual(await read("open"), SMALL);
  await stop();
  await start("another-key-of-the-tests");
  await assert.rejects(read("sse/small"), { name: "InternalError" }, "without the key nothing is served");
});
