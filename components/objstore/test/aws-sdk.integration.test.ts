import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";

import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;
const Bucket = "sdk-test";

before(async () => {
  store = await startObjstore();
  client = createS3Client(store);
  await client.send(new s3.CreateBucketCommand({ Bucket }));
});
after(async () => {
  client.destroy();
  await store.stop();
});

const put = (Key: string, Body: string | Buffer | Readable, more: Partial<s3.PutObjectCommandInput> = {}) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = async (Key: string, more: Partial<s3.GetObjectCommandInput> = {}) => {
  const response = await client.send(new s3.GetObjectCommand({ Bucket, Key, ...more }));
  return { ...response, bytes: Buffer.from((await response.Body?.transformToByteArray()) ?? []) };
};
const hasName = (name: string) => (error: unknown) => error instanceof Error && error.name === name;

test("put, get, head, ranges and conditions", async () => {
  const bytes = randomBytes(100_000);
  for (const size of [0, 1, 4096, 100_000]) {
    const part = bytes.subarray(0, size);
    const { ETag } = await put("a/b.bin", part, { ContentType: "image/tiff", Metadata: { scene: "x 1" } });
    assert.equal(ETag, `"${createHash("md5").update(part).digest("hex")}"`);
    const response = await get("a/b.bin", { ChecksumMode: "ENABLED" });
    assert.deepEqual(response.bytes, part);
    assert.equal(response.ContentType, "image/tiff");
    assert.equal(response.Metadata?.["scene"], "x 1");
    assert.ok(response.ChecksumCRC32);
  }
  assert.deepEqual((await get("a/b.bin", { Range: "bytes=10-19" })).bytes, bytes.subarray(10, 20));
  assert.deepEqual((await get("a/b.bin", { Range: "bytes=-5" })).bytes, bytes.subarray(-5));
  await assert.rejects(get("a/b.bin", { Range: "bytes=100000-" }), hasName("InvalidRange"));
  assert.deepEqual((await get("a/b.bin", { PartNumber: 1 })).bytes, bytes);
  await assert.rejects(get("a/b.bin", { PartNumber: 2 }), hasName("InvalidPartNumber"));
  await assert.rejects(
    client.send(new s3.HeadObjectCommand({ Bucket, Key: "a/b.bin", PartNumber: 2 })),
    (error: s3.S3ServiceException) => error.$metadata.httpStatusCode === 416,
  );
  await assert.rejects(put("a/b.bin", "x", { IfNoneMatch: "*" }), hasName("PreconditionFailed"));
  await assert.rejects(get("a/b.bin", { IfMatch: '"no"' }), hasName("PreconditionFailed"));
  await assert.rejects(get("nothing"), hasName("NoSuchKey"));
});

test("a stream goes up with a checksum in the trailer", async () => {
  for (const size of [10, 300_000]) {
    const bytes = randomBytes(size);
    await put("stream", Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]), { ContentLength: size });
    assert.deepEqual((await get("stream")).bytes, bytes);
  }
});

test("every checksum algorithm is verified", async () => {
  for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const) {
    await put("sum", "hello", { ChecksumAlgorithm });
  }
  await assert.rejects(put("sum", "hello", { ChecksumCRC32: "AAAAAA==" }), hasName("BadDigest"));
  await assert.rejects(put("sum", "hello", { ContentMD5: "AAAAAAAAAAAAAAAAAAAAAA==" }), hasName("BadDigest"));
  // Of a size that goes to a file.
  const large = Buffer.alloc(1 << 20, "large");
  await assert.rejects(put("sum", large, { ChecksumCRC32: "AAAAAA==" }), hasName("BadDigest"));
  await assert.rejects(put("sum", large, { ContentMD5: "AAAAAAAAAAAAAAAAAAAAAA==" }), hasName("BadDigest"));
});

/** Of "abc". */
const SUMS = {
  MD5: createHash("md5").update("abc").digest("base64"),
  SHA512: createHash("sha512").update("abc").digest("base64"),
  XXHASH64: Buffer.from("44bc2cf5ad770999", "hex").toString("base64"),
  XXHASH3: Buffer.from("78af5f94892f3950", "hex").toString("base64"),
  XXHASH128: Buffer.from("06b05ab6733a618578af5f94892f3950", "hex").toString("base64"),
};

test("checksums that a client brings are verified, kept and given back, of objects and of parts", async () => {
  for (const [name, sum] of Object.entries(SUMS)) {
    const field = `Checksum${name}`;
    await put("brought", "abc", { [field]: sum });
    const response = await client.send(new s3.HeadObjectCommand({ Bucket, Key: "brought", ChecksumMode: "ENABLED" }));
    assert.equal((response as unknown as Record<string, unknown>)[field], sum, name);
    await assert.rejects(put("brought", "abd", { [field]: sum }), hasName("BadDigest"), name);

    const target = { Bucket, Key: `parts-${name}` };
    const { UploadId, ChecksumType } = await client.send(
      new s3.CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: name as s3.ChecksumAlgorithm }),
    );
    assert.equal(ChecksumType, "COMPOSITE");
    const part = { ...target, UploadId, PartNumber: 1, Body: "abc" };
    const { ETag } = await client.send(new s3.UploadPartCommand({ ...part, [field]: sum }));
    const made = await client.send(
      new s3.CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag, [field]: sum }] },
      }),
    );
    assert.match(String((made as unknown as Record<string, unknown>)[field]), /-1$/, name);
    await assert.rejects(
      client.send(
        new s3.CreateMultipartUploadCommand({
          ...target,
          ChecksumAlgorithm: name as s3.ChecksumAlgorithm,
          ChecksumType: "FULL_OBJECT",
        }),
      ),
      hasName("InvalidRequest"),
    );
  }
});

test("keys are opaque: odd characters, dots, slashes, 1,024 bytes", async () => {
  const keys = [
    "../../etc/passwd",
    "a//b",
    "/lead",
    "ü/日本/🛰",
    "a b+c%20d&e=f?g#h",
    "tab\tx",
    "'!()*~",
    "x".repeat(1024),
    ".",
    "..",
    "a/./b/../c",
  ];
  for (const key of keys) {
    await put(key, key);
    assert.equal((await get(key)).bytes.toString(), key);
  }
  const listed = await client.send(new s3.ListObjectsV2Command({ Bucket, EncodingType: "url" }));
  const names = new Set(listed.Contents?.map(({ Key }) => decodeURIComponent(Key ?? "")));
  assert.deepEqual(
    keys.filter((key) => !names.has(key)),
    [],
  );
  await assert.rejects(put("x".repeat(1025), ""), hasName("KeyTooLongError"));
  const { Deleted, Errors } = await client.send(
    new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }),
  );
  assert.equal(Deleted?.length, keys.length);
  assert.equal(Errors, undefined);
});

test("listing pages by prefix and delimiter", async () => {
  for (let n = 0; n < 25; n += 1) {
    await put(`list/d${n % 5}/f${n}`, "");
  }
  await put("list/z", "");
  const seen: string[] = [];
  for await (const page of s3.paginateListObjectsV2(
    { client, pageSize: 2 },
    { Bucket, Prefix: "list/", Delimiter: "/" },
  )) {
    seen.push(
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ""),
      ...(page.Contents ?? []).map(({ Key }) => Key ?? ""),
    );
  }
  assert.deepEqual(seen, ["list/d0/", "list/d1/", "list/d2/", "list/d3/", "list/d4/", "list/z"]);
  const all: string[] = [];
  for await (const page of s3.paginateListObjectsV2({ client, pageSize: 7 }, { Bucket, Prefix: "list/" })) {
    all.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ""));
  }
  assert.equal(all.length, 26);
  assert.deepEqual(all, [...all].sort());
});

test("multipart: parts, copy of a part, completion, abort", async () => {
  const bytes = randomBytes(12 << 20);
  const upload = new Upload({ client, params: { Bucket, Key: "big", Body: bytes }, partSize: 5 << 20 });
  await upload.done();
  const response = await get("big");
  assert.ok(response.bytes.equals(bytes));
  assert.match(response.ETag ?? "", /-3"$/);
  assert.ok((await get("big", { Range: "bytes=5242870-5242890" })).bytes.equals(bytes.subarray(5242870, 5242891)));
  assert.ok((await get("big", { PartNumber: 3 })).bytes.equals(bytes.subarray(10 << 20)));
  await client.send(new s3.CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/big` }));
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: "big" }));
  assert.ok((await get("copy")).bytes.equals(bytes));
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "parts" }));
  const common = { Bucket, Key: "parts", UploadId };
  const part = await client.send(
    new s3.UploadPartCopyCommand({
      ...common,
      PartNumber: 1,
      CopySource: `${Bucket}/copy`,
      CopySourceRange: "bytes=1-6000000",
    }),
  );
  const tail = await client.send(new s3.UploadPartCommand({ ...common, PartNumber: 2, Body: "tail" }));
  const Parts = [
    { PartNumber: 1, ETag: part.CopyPartResult?.ETag },
    { PartNumber: 2, ETag: tail.ETag },
  ];
  assert.equal((await client.send(new s3.ListPartsCommand(common))).Parts?.length, 2);
  assert.equal((await client.send(new s3.ListMultipartUploadsCommand({ Bucket }))).Uploads?.length, 1);
  await assert.rejects(
    client.send(new s3.CompleteMultipartUploadCommand({ ...common, MultipartUpload: { Parts: Parts.toReversed() } })),
    hasName("InvalidPartOrder"),
  );
  await client.send(new s3.CompleteMultipartUploadCommand({ ...common, MultipartUpload: { Parts } }));
  assert.ok((await get("parts")).bytes.equals(Buffer.concat([bytes.subarray(1, 6_000_001), Buffer.from("tail")])));
  const second = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "gone" }));
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key: "gone", UploadId: second.UploadId }));
  await assert.rejects(
    client.send(new s3.ListPartsCommand({ Bucket, Key: "gone", UploadId: second.UploadId })),
    hasName("NoSuchUpload"),
  );
});

test("versions and delete markers", async () => {
  const versioned = "sdk-versions";
  await client.send(new s3.CreateBucketCommand({ Bucket: versioned }));
  await client.send(
    new s3.PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration: { Status: "Enabled" } }),
  );
  const one = await client.send(new s3.PutObjectCommand({ Bucket: versioned, Key: "k", Body: "1" }));
  await client.send(new s3.PutObjectCommand({ Bucket: versioned, Key: "k", Body: "2" }));
  const marker = await client.send(new s3.DeleteObjectCommand({ Bucket: versioned, Key: "k" }));
  assert.equal(marker.DeleteMarker, true);
  await assert.rejects(client.send(new s3.GetObjectCommand({ Bucket: versioned, Key: "k" })), hasName("NoSuchKey"));
  const old = await client.send(new s3.GetObjectCommand({ Bucket: versioned, Key: "k", VersionId: one.VersionId }));
  assert.equal(await old.Body?.transformToString(), "1");
  const listed = await client.send(new s3.ListObjectVersionsCommand({ Bucket: versioned }));
  assert.deepEqual([listed.Versions?.length, listed.DeleteMarkers?.length], [2, 1]);
  for (const { Key, VersionId } of [...(listed.Versions ?? []), ...(listed.DeleteMarkers ?? [])]) {
    await client.send(new s3.DeleteObjectCommand({ Bucket: versioned, Key, VersionId }));
  }
  await client.send(new s3.DeleteBucketCommand({ Bucket: versioned }));
});

test("what is not there says NotImplemented, what is wrong says what", async () => {
  await assert.rejects(client.send(new s3.GetBucketWebsiteCommand({ Bucket })), hasName("NotImplemented"));
  await assert.rejects(put("enc", "x", { ServerSideEncryption: "AES256" }), hasName("NotImplemented"));
  await assert.rejects(put("acl", "x", { ACL: "public-read" }), hasName("AccessControlListNotSupported"));
  const wrong = createS3Client(store, { credentials: { ...ROOT, secretAccessKey: "x" } });
  await assert.rejects(wrong.send(new s3.ListObjectsV2Command({ Bucket })), hasName("SignatureDoesNotMatch"));
  wrong.destroy();
  assert.equal((await fetch(`${store.url}/${Bucket}/copy`)).status, 403);
  const bomb = '<!DOCTYPE x [<!ENTITY a "b">]><Delete>&a;</Delete>';
  const policy = {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: "*",
        Action: ["s3:GetObject", "s3:PutBucketCORS"],
        Resource: [`arn:aws:s3:::${Bucket}/copy`, `arn:aws:s3:::${Bucket}`],
      },
    ],
  };
  await client.send(new s3.PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify(policy) }));
  assert.equal((await fetch(`${store.url}/${Bucket}/copy`, { headers: { range: "bytes=0-1" } })).status, 206);
  assert.match(
    await (await fetch(`${store.url}/${Bucket}?cors`, { method: "PUT", body: bomb })).text(),
    /MalformedXML/,
  );
});

test("a bucket's service account may use that bucket and nothing else; quotas hold", async () => {
  const authorization = `Basic ${Buffer.from(`${ROOT.accessKeyId}:${ROOT.secretAccessKey}`).toString("base64")}`;
  const call = (path: string, method: string, body?: object) =>
    fetch(`${store.consoleUrl}${path}`, {
      method,
      headers: { authorization, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const made = (await (await call("/api/buckets/ws-eric/service-account", "POST")).json()) as {
    accessKey: string;
    secretKey: string;
  };
  const eric = createS3Client(store, {
    credentials: { accessKeyId: made.accessKey, secretAccessKey: made.secretKey },
  });
  await eric.send(new s3.PutObjectCommand({ Bucket: "ws-eric", Key: "a", Body: "mine" }));
  assert.deepEqual(
    (await eric.send(new s3.ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name),
    ["ws-eric"],
  );
  await assert.rejects(eric.send(new s3.GetObjectCommand({ Bucket, Key: "sum" })), hasName("AccessDenied"));
  await assert.rejects(eric.send(new s3.PutObjectCommand({ Bucket, Key: "sum", Body: "" })), hasName("AccessDenied"));
  await assert.rejects(
    eric.send(new s3.CopyObjectCommand({ Bucket: "ws-eric", Key: "stolen", CopySource: `${Bucket}/sum` })),
    hasName("AccessDenied"),
  );
  await assert.rejects(
    eric.send(new s3.PutBucketPolicyCommand({ Bucket: "ws-eric", Policy: "{}" })),
    hasName("AccessDenied"),
  );
  assert.equal((await call("/api/buckets/ws-eric/quota", "PUT", { bytes: 100 })).status, 200);
  await assert.rejects(
    eric.send(new s3.PutObjectCommand({ Bucket: "ws-eric", Key: "b", Body: "x".repeat(200) })),
    hasName("QuotaExceeded"),
  );
  const bucket = (await (await call("/api/buckets/ws-eric", "GET")).json()) as { bytes: number; objects: number };
  assert.deepEqual([bucket.bytes, bucket.objects], [4, 1]);
  const { url } = (await (
    await call("/api/presign", "POST", { bucket: "ws-eric", key: "a", method: "GET", seconds: 60 })
  ).json()) as { url: string };
  assert.match(url, /^http:\/\/objstore\.localhost\/ws-eric\/a\?X-Amz-/);
  assert.equal((await fetch(`${store.consoleUrl}/api/buckets`)).status, 401);
  eric.destroy();
});
