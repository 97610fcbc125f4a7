import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { digestAll } from "../store/digests/digests.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;
const Bucket = "sums";

before(async () => {
  store = await startObjstore({ OBJSTORE_ENCRYPTION_KEYS: "a-key-of-the-tests" });
  // As clients of before 2025: no checksum of their own.
  client = createS3Client(store, { requestChecksumCalculation: "WHEN_REQUIRED" });
  await client.send(new s3.CreateBucketCommand({ Bucket }));
});
after(async () => {
  client.destroy();
  await store.stop();
});

const crc = async (bytes: Uint8Array) => (await digestAll(bytes, ["crc64nvme"])).crc64nvme?.toString("base64");
const head = (Key: string) => client.send(new s3.HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
const attributes = (Key: string) =>
  client.send(
    new s3.GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: ["Checksum", "ObjectParts", "StorageClass"] }),
  );

test("an object without a checksum of the client gets CRC64NVME, in the index and in a file", async () => {
  for (const size of [0, 5, 40_000]) {
    const Body = randomBytes(size);
    const sum = await crc(Body);
    const put = await client.send(new s3.PutObjectCommand({ Bucket, Key: "plain", Body }));
    assert.deepEqual([put.ChecksumCRC64NVME, put.ChecksumType], [sum, "FULL_OBJECT"]);
    const { ChecksumCRC64NVME, ChecksumType } = await head("plain");
    assert.deepEqual([ChecksumCRC64NVME, ChecksumType], [sum, "FULL_OBJECT"]);
    assert.equal((await attributes("plain")).Checksum?.ChecksumCRC64NVME, sum);
    const unasked = await client.send(new s3.HeadObjectCommand({ Bucket, Key: "plain" }));
    assert.equal(unasked.ChecksumCRC64NVME, undefined);
    // The SDK compares what it reads with the checksum.
    const got = await client.send(new s3.GetObjectCommand({ Bucket, Key: "plain", ChecksumMode: "ENABLED" }));
    assert.deepEqual(Buffer.from((await got.Body?.transformToByteArray()) ?? []), Body);
  }
  const { Contents } = await client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: "plain" }));
  assert.deepEqual(Contents?.[0]?.ChecksumAlgorithm, ["CRC64NVME"]);
});

test("an upload in parts without an algorithm gets CRC64NVME of the whole, whatever its parts announce", async () => {
  const whole = randomBytes((5 << 20) + 100);
  const target = { Bucket, Key: "parts" };
  const { UploadId, ChecksumAlgorithm } = await client.send(new s3.CreateMultipartUploadCommand(target));
  assert.equal(ChecksumAlgorithm, undefined);
  const [front, end] = [whole.subarray(0, 5 << 20), whole.subarray(5 << 20)] as const;
  const first = await client.send(new s3.UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: front }));
  assert.equal(first.ChecksumCRC64NVME, await crc(front));
  const ChecksumCRC32 = (await digestAll(end, ["crc32"])).crc32?.toString("base64") ?? "";
  const second = await client.send(
    new s3.UploadPartCommand({ ...target, UploadId, PartNumber: 2, Body: end, ChecksumCRC32 }),
  );
  assert.equal(second.ChecksumCRC32, ChecksumCRC32);
  const done = {
    ...target,
    UploadId,
    MultipartUpload: { Parts: [first, second].map(({ ETag }, at) => ({ ETag, PartNumber: at + 1 })) },
  };
  await assert.rejects(
    client.send(new s3.CompleteMultipartUploadCommand({ ...done, ChecksumCRC64NVME: "AAAAAAAAAAA=" })),
    { name: "BadDigest" },
  );
  const made = await client.send(new s3.CompleteMultipartUploadCommand(done));
  assert.deepEqual([made.ChecksumCRC64NVME, made.ChecksumType], [await crc(whole), "FULL_OBJECT"]);
  assert.equal((await head("parts")).ChecksumCRC64NVME, await crc(whole));
  assert.equal((await attributes("parts")).ObjectParts?.TotalPartsCount, 2);
});

test("parts without a checksum count towards the algorithm that their upload named", async () => {
  const target = { Bucket, Key: "named" };
  const { UploadId } = await client.send(
    new s3.CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: "SHA256" }),
  );
  const { ETag } = await client.send(new s3.UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: "abc" }));
  const copied = await client.send(
    new s3.UploadPartCopyCommand({ ...target, UploadId, PartNumber: 1, CopySource: `${Bucket}/plain` }),
  );
  assert.ok(copied.CopyPartResult?.ChecksumSHA256);
  const part = { ETag: copied.CopyPartResult.ETag ?? ETag, PartNumber: 1 };
  const made = await client.send(
    new s3.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: [part] } }),
  );
  assert.match(made.ChecksumSHA256 ?? "", /=-1$/);
});

test("a copy that is written anew gets the default checksum; one with an own algorithm that one", async () => {
  const Body = randomBytes(50_000);
  await client.send(new s3.PutObjectCommand({ Bucket, Key: "source", Body }));
  const CopySource = `${Bucket}/source`;
  const encrypted = await client.send(
    new s3.CopyObjectCommand({ Bucket, Key: "copy", CopySource, ServerSideEncryption: "AES256" }),
  );
  assert.equal(encrypted.CopyObjectResult?.ChecksumCRC64NVME, await crc(Body));
  const other = await client.send(
    new s3.CopyObjectCommand({ Bucket, Key: "copy", CopySource, ChecksumAlgorithm: "SHA1" }),
  );
  assert.ok(other.CopyObjectResult?.ChecksumSHA1);
});

test("the storage class is remembered and shown, is not copied, and changes by a copy onto itself", async () => {
  const target = { Bucket, Key: "class/infrequent" };
  await client.send(new s3.PutObjectCommand({ ...target, Body: "x", StorageClass: "STANDARD_IA" }));
  await client.send(new s3.PutObjectCommand({ Bucket, Key: "class/plain", Body: "x", StorageClass: "STANDARD" }));
  const { UploadId } = await client.send(
    new s3.CreateMultipartUploadCommand({ Bucket, Key: "class/upload", StorageClass: "GLACIER_IR" }),
  );
  const classOf = async (Key: string) => (await head(Key)).StorageClass;
  assert.equal(await classOf("class/infrequent"), "STANDARD_IA");
  assert.equal(await classOf("class/plain"), undefined);
  assert.equal((await attributes("class/infrequent")).StorageClass, "STANDARD_IA");
  const listed = await client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: "class/" }));
  assert.deepEqual(
    listed.Contents?.map(({ StorageClass }) => StorageClass),
    ["STANDARD_IA", "STANDARD"],
  );
  const versions = await client.send(new s3.ListObjectVersionsCommand({ Bucket, Prefix: "class/" }));
  assert.equal(versions.Versions?.[0]?.StorageClass as string, "STANDARD_IA");
  const uploads = await client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: "class/" }));
  assert.equal(uploads.Uploads?.[0]?.StorageClass, "GLACIER_IR");
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key: "class/upload", UploadId }));

  const CopySource = `${Bucket}/class/infrequent`;
  await client.send(new s3.CopyObjectCommand({ Bucket, Key: "class/copy", CopySource }));
  assert.equal(await classOf("class/copy"), undefined);
  await client.send(new s3.CopyObjectCommand({ ...target, CopySource, StorageClass: "ONEZONE_IA" }));
  assert.equal(await classOf("class/infrequent"), "ONEZONE_IA");
  await client.send(new s3.CopyObjectCommand({ ...target, CopySource, StorageClass: "STANDARD" }));
  assert.equal(await classOf("class/infrequent"), undefined);
  // Objects of these could not be read at once.
  for (const StorageClass of ["GLACIER", "DEEP_ARCHIVE", "cold" as s3.StorageClass] as const) {
    await assert.rejects(client.send(new s3.PutObjectCommand({ ...target, Body: "x", StorageClass })), {
      name: "InvalidStorageClass",
    });
  }
});
