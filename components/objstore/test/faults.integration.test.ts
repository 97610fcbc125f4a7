import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { presign } from "../admin/presign.ts";
import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;
const Bucket = "faults";

before(async () => {
  store = await startObjstore();
  client = createS3Client(store, { maxAttempts: 1 });
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  const Resource = `arn:aws:s3:::${Bucket}/open/*`;
  const Policy = JSON.stringify({ Statement: [{ Effect: "Allow", Principal: "*", Action: "s3:PutObject", Resource }] });
  await client.send(new s3.PutBucketPolicyCommand({ Bucket, Policy }));
});
after(async () => {
  client.destroy();
  await store.stop();
});

const put = (Key: string, Body: Buffer | string) => client.send(new s3.PutObjectCommand({ Bucket, Key, Body }));
const get = async (Key: string) => {
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const listFiles = async () =>
  (await readdir(join(store.directory, "content"), { recursive: true })).filter((name) => name.includes("/"));
const hasName = (name: string) => (error: unknown) => error instanceof Error && error.name === name;
const signPut = (key: string) =>
  presign({
    publicUrl: store.url,
    region: "us-east-1",
    credential: { id: ROOT.accessKeyId, secret: ROOT.secretAccessKey, token: null },
    method: "PUT",
    bucket: Bucket,
    key,
    seconds: 60,
    now: Date.now(),
  });

/** Sends the head of a PUT and what is given of its body, and gives what came back until the connection ended. */
async function sendRaw(key: string, headers: readonly string[], body: Buffer, cut: boolean): Promise<string> {
  const { hostname, port } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let response = "";
  socket.on("data", (chunk: Buffer) => {
    response += chunk.toString("latin1");
  });
  const target = key.startsWith("open/") ? `/${Bucket}/${key}` : (await signPut(key)).slice(store.url.length);
  socket.write(
    [`PUT ${target} HTTP/1.1`, `host: ${hostname}:${port}`, "connection: close", ...headers, "", ""].join("\r\n"),
  );
  await new Promise<void>((resolve) => socket.write(body, () => resolve()));
  if (cut) {
    // Long enough for the service to have begun with it.
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.resetAndDestroy();
  } else if (!socket.closed) {
    await once(socket, "close");
  }
  return response;
}

async function countContentFiles(): Promise<number> {
  const folder = join(store.directory, "content");
  let count = 0;
  for (const hour of await readdir(folder)) {
    count += (await readdir(join(folder, hour))).length;
  }
  return count;
}

test("a PUT whose connection breaks in its body is never seen, and leaves nothing behind", async () => {
  for (const size of [10_000, 3_000_000]) {
    await put("old", "as it was");
    const files = await countContentFiles();
    for (const key of ["old", "new"]) {
      for (const sent of [0, 1, Math.floor(size / 2), size - 1]) {
        await sendRaw(key, [`content-length: ${size}`], randomBytes(sent), true);
      }
    }
    assert.equal((await get("old")).toString(), "as it was");
    await assert.rejects(get("new"), hasName("NoSuchKey"));
    await waitUntil("half-written files are removed", async () => (await countContentFiles()) === files);
  }
  const chunked = ["x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length: 300000"];
  const half = Buffer.concat([Buffer.from("30d40\r\n"), randomBytes(200_000), Buffer.from("\r\n")]);
  const response = await sendRaw("open/new", [...chunked, `content-length: ${half.length}`], half, false);
  assert.match(response, /^HTTP\/1\.1 4\d\d [\s\S]*<Code>/, "a body that ends before its last chunk");
  await assert.rejects(get("open/new"), hasName("NoSuchKey"));
});

test("of concurrent writers of one key, one whole object stays, and readers see whole ones only", async () => {
  const bodies = new Map<string, number>();
  for (let n = 0; n < 24; n += 1) {
    const body = Buffer.alloc(n % 2 === 0 ? 20_000 + n : 400_000 + n, `writer ${n};`);
    bodies.set(createHash("md5").update(body).digest("hex"), n);
  }
  const bodyOf = (n: number) => Buffer.alloc(n % 2 === 0 ? 20_000 + n : 400_000 + n, `writer ${n};`);
  await put("raced", bodyOf(0));
  let writing = true;
  const reader = async () => {
    while (writing) {
      const found = await get("raced");
      assert.ok(bodies.has(createHash("md5").update(found).digest("hex")), `a torn object of ${found.length} bytes`);
    }
  };
  const readers = [reader(), reader(), reader()];
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(Array.from({ length: 24 }, (_, n) => put("raced", bodyOf(n))));
  }
  writing = false;
  await Promise.all(readers);
  const { body } = await callAdmin(store, "GET", `/api/buckets/${Bucket}`);
  const { Contents } = await client.send(new s3.ListObjectsV2Command({ Bucket }));
  assert.deepEqual(
    [body.objects, body.bytes],
    [Contents?.length, Contents?.reduce((sum, { Size }) => sum + (Size ?? 0), 0)],
    "usage counts what is there",
  );
});

test("who has begun to read an object reads it to its end, whatever becomes of its key", async () => {
  const Key = "read-slowly";
  const part = Buffer.alloc(16 << 20, "part;");
  const before = new Set(await listFiles());
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key }));
  const upload = { Bucket, Key, UploadId };
  const Parts: s3.CompletedPart[] = [];
  for (const PartNumber of [1, 2]) {
    const { ETag } = await client.send(new s3.UploadPartCommand({ ...upload, PartNumber, Body: part }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new s3.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  const countFiles = async () => (await listFiles()).filter((name) => !before.has(name)).length;
  assert.equal(await countFiles(), 3, "two parts, and what tells of the object");
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
  await put(Key, "new");
  await waitUntil("the collector has been there", async () => (await countFiles()) < 3);
  assert.deepEqual(Buffer.from((await Body?.transformToByteArray()) ?? []), Buffer.concat([part, part]));
  assert.equal((await get(Key)).toString(), "new");
  await waitUntil("the old bytes are gone", async () => (await countFiles()) === 0);
});

test("a quota holds however many write at once, over objects, parts and versions", async () => {
  const quota = "quota-race";
  await client.send(new s3.CreateBucketCommand({ Bucket: quota }));
  const limit = 1_000_000;
  assert.equal((await callAdmin(store, "PUT", `/api/buckets/${quota}/quota`, { bytes: limit })).status, 200);
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket: quota, Key: "multi" }));
  const write = (n: number): Promise<unknown> =>
    n % 3 === 0
      ? client.send(
          new s3.UploadPartCommand({
            Bucket: quota,
            Key: "multi",
            UploadId,
            PartNumber: n + 1,
            Body: Buffer.alloc(100_000),
          }),
        )
      : client.send(
          new s3.PutObjectCommand({ Bucket: quota, Key: `k${n}`, Body: Buffer.alloc(n % 3 === 1 ? 100_000 : 10_000) }),
        );
  const results = await Promise.allSettled(Array.from({ length: 60 }, (_, n) => write(n)));
  for (const result of results) {
    assert.ok(
      result.status === "fulfilled" || (result.reason as Error).name === "QuotaExceeded",
      String(result.status),
    );
  }
  const { body } = await callAdmin(store, "GET", `/api/buckets/${quota}`);
  assert.ok(body.bytes + body.uploadBytes <= limit, `${body.bytes} + ${body.uploadBytes} bytes in a quota of ${limit}`);
  assert.ok(body.bytes + body.uploadBytes > limit - 110_000, "and it can be used up");
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket: quota, Key: "multi", UploadId }));
  const { Contents = [] } = await client.send(new s3.ListObjectsV2Command({ Bucket: quota }));
  await client.send(
    new s3.DeleteObjectsCommand({ Bucket: quota, Delete: { Objects: Contents.map(({ Key }) => ({ Key })) } }),
  );
  for (let round = 0; round < 3; round += 1) {
    // What is replaced makes room for what replaces it.
    await client.send(new s3.PutObjectCommand({ Bucket: quota, Key: "again", Body: Buffer.alloc(900_000) }));
  }
  const after = (await callAdmin(store, "GET", `/api/buckets/${quota}`)).body;
  assert.deepEqual([after.bytes, after.uploadBytes, after.objects], [900_000, 0, 1]);
});

test("a clock that is wrong is told so, and what time it is, by which the SDK corrects itself", async () => {
  const skewed = (minutes: number) => createS3Client(store, { maxAttempts: 1, systemClockOffset: minutes * 60_000 });
  for (const minutes of [-16, 16]) {
    const wrong = skewed(minutes);
    await assert.rejects(wrong.send(new s3.ListBucketsCommand({})), hasName("RequestTimeTooSkewed"));
    await wrong.send(new s3.ListBucketsCommand({}));
    wrong.destroy();
  }
  for (const minutes of [-14, 14]) {
    const near = skewed(minutes);
    await near.send(new s3.ListBucketsCommand({}));
    near.destroy();
  }
});

test("sizes that nobody can have are refused before a byte is sent", async () => {
  const huge = 5 * 2 ** 40;
  const tooLarge = /^HTTP\/1\.1 400 [\s\S]*<Code>EntityTooLarge<\/Code>/;
  const none = Buffer.alloc(0);
  assert.match(await sendRaw("huge", [`content-length: ${huge}`], none, false), tooLarge);
  assert.match(await sendRaw("huge", [`content-length: ${5 * 2 ** 30 + 1}`], none, false), tooLarge);
  const chunked = ["x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "transfer-encoding: chunked"];
  assert.match(
    await sendRaw("open/huge", [...chunked, `x-amz-decoded-content-length: ${huge}`], none, false),
    tooLarge,
  );
  for (const wrong of ["-1", "1e3", "0x10", "99999999999999999999", "nine"]) {
    const response = await sendRaw("open/huge", [...chunked, `x-amz-decoded-content-length: ${wrong}`], none, false);
    assert.match(response, /^HTTP\/1\.1 400 [\s\S]*<Code>InvalidArgument<\/Code>/, wrong);
  }
  const whole = Buffer.from("5\r\nhello\r\n0\r\n\r\n");
  assert.match(await sendRaw("open/unannounced", ["transfer-encoding: chunked"], whole, false), /^HTTP\/1\.1 200 /);
  for (const wrong of ["-1", "5 5", "x"]) {
    assert.match(await sendRaw("huge", [`content-length: ${wrong}`], none, false), /^HTTP\/1\.1 400 /, wrong);
  }
  for (const key of ["huge", "open/huge"]) {
    await assert.rejects(get(key), hasName("NoSuchKey"));
  }
  await put("source", "twelve bytes");
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "huge" }));
  const copy = (CopySourceRange: string) =>
    client.send(
      new s3.UploadPartCopyCommand({
        Bucket,
        Key: "huge",
        UploadId,
        PartNumber: 1,
        CopySource: `${Bucket}/source`,
        CopySourceRange,
      }),
    );
  await assert.rejects(copy(`bytes=0-${huge}`), hasName("InvalidRange"));
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key: "huge", UploadId }));
});
