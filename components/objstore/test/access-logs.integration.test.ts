import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;

before(async () => {
  store = await startObjstore({ OBJSTORE_ENCRYPTION_KEYS: "a-key-of-the-tests-0" }, {}, { accessLogMs: 100 });
  client = createS3Client(store, { maxAttempts: 1 });
  for (const Bucket of ["watched", "logs"]) {
    await client.send(new s3.CreateBucketCommand({ Bucket }));
  }
});
after(async () => {
  client.destroy();
  await store.stop();
});

const setLogging = (LoggingEnabled?: s3.LoggingEnabled, using = client, Bucket = "watched") =>
  using.send(
    new s3.PutBucketLoggingCommand({
      Bucket,
      BucketLoggingStatus: LoggingEnabled === undefined ? {} : { LoggingEnabled },
    }),
  );

/** All lines below a prefix of the target bucket. */
async function readLines(Prefix: string): Promise<readonly string[]> {
  const { Contents = [] } = await client.send(new s3.ListObjectsV2Command({ Bucket: "logs", Prefix }));
  const texts = await Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body } = await client.send(new s3.GetObjectCommand({ Bucket: "logs", Key }));
      return (await Body?.transformToString()) ?? "";
    }),
  );
  return texts
    .join("")
    .split("\n")
    .filter((line) => line !== "");
}

const find = (prefix: string, pattern: RegExp) =>
  waitUntil(`a line ${String(pattern)}`, async () => (await readLines(prefix)).find((line) => pattern.test(line)));

test("requests of a bucket are logged into another, in the form of Amazon S3", async () => {
  await setLogging({ TargetBucket: "logs", TargetPrefix: "plain/" });
  const { LoggingEnabled } = await client.send(new s3.GetBucketLoggingCommand({ Bucket: "watched" }));
  assert.deepEqual([LoggingEnabled?.TargetBucket, LoggingEnabled?.TargetPrefix], ["logs", "plain/"]);
  await client.send(new s3.PutObjectCommand({ Bucket: "watched", Key: "a b", Body: "text" }));
  await client.send(new s3.GetObjectCommand({ Bucket: "watched", Key: "a b" }));
  await assert.rejects(client.send(new s3.GetObjectCommand({ Bucket: "watched", Key: "no" })), { name: "NoSuchKey" });
  await fetch(`${store.url}/watched/a%20b?X-Amz-Signature=secret&X-Amz-Algorithm=x`, { headers: { referer: 'a"b' } });
  const put = await find("plain/", /REST\.PUT\.OBJECT/);
  assert.match(
    put,
    /^root watched \[\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000\] 127\.0\.0\.1 root [0-9A-F]{16} REST\.PUT\.OBJECT a%20b "PUT \/watched\/a%20b\?x-id=PutObject HTTP\/1\.1" 200 - \d+ - \d+ - "?-/,
  );
  assert.match(put, /SigV4 - AuthHeader 127\.0\.0\.1:\d+ - - -$/);
  await find("plain/", /REST\.GET\.OBJECT no .* 404 NoSuchKey /);
  const unsigned = await find("plain/", /X-Amz-Algorithm/);
  assert.match(unsigned, /X-Amz-Signature=-&/);
  assert.match(unsigned, /"a%22b"/);
  await setLogging();
  await client.send(new s3.PutObjectCommand({ Bucket: "watched", Key: "unlogged", Body: "text" }));
});

test("keys with the day, and logs encrypted where the target bucket asks for it", async () => {
  await client.send(
    new s3.PutBucketEncryptionCommand({
      Bucket: "logs",
      ServerSideEncryptionConfiguration: {
        Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
    }),
  );
  const TargetObjectKeyFormat = { PartitionedPrefix: { PartitionDateSource: "EventTime" as const } };
  await setLogging({ TargetBucket: "logs", TargetPrefix: "day/", TargetObjectKeyFormat });
  await client.send(new s3.HeadBucketCommand({ Bucket: "watched" }));
  await find("day/", /REST\.HEAD\.BUCKET/);
  const { Contents = [] } = await client.send(new s3.ListObjectsV2Command({ Bucket: "logs", Prefix: "day/" }));
  const Key = Contents[0]?.Key;
  assert.match(Key ?? "", /^day\/-\/us-east-1\/watched\/\d{4}\/\d\d\/\d\d\/[\d-]{19}-[0-9A-F]{16}$/);
  const { ServerSideEncryption } = await client.send(new s3.HeadObjectCommand({ Bucket: "logs", Key }));
  assert.equal(ServerSideEncryption, "AES256");
  const lines = (await readLines("")).join("\n");
  assert.doesNotMatch(lines, /PUT\.OBJECT unlogged/);
});

test("a target that is missing, of another account or not the caller's to write is refused", async () => {
  await assert.rejects(setLogging({ TargetBucket: "missing", TargetPrefix: "" }), {
    name: "InvalidTargetBucketForLogging",
  });
  const policy = (Resource: string) => ({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "s3:*", Resource }],
  });
  const makeClient = async (name: string, account: string, resource: string) => {
    await callAdmin(store, "PUT", `/api/users/${name}`, { policy: policy(resource), account });
    const { body } = await callAdmin(store, "POST", "/api/access-keys", { user: name });
    return createS3Client(store, { credentials: { accessKeyId: body.accessKey, secretAccessKey: body.secretKey } });
  };
  const narrow = await makeClient("narrow", "", "arn:aws:s3:::watched*");
  await assert.rejects(setLogging({ TargetBucket: "logs", TargetPrefix: "" }, narrow), { name: "AccessDenied" });
  const other = await makeClient("other", "other", "*");
  await other.send(new s3.CreateBucketCommand({ Bucket: "of-other" }));
  await assert.rejects(setLogging({ TargetBucket: "logs", TargetPrefix: "" }, other, "of-other"), {
    name: "InvalidTargetBucketForLogging",
  });
  narrow.destroy();
  other.destroy();
});
