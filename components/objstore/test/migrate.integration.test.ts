import assert from "node:assert/strict";
import { type ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { runCommand } from "@swath/testing";
import { join } from "node:path";

import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

type Store = Awaited<ReturnType<typeof startObjstore>>;

const Bucket = "moving";
const PART = Buffer.alloc(5 << 20, "part;");
let source: Store;
let target: Store;
let from: s3.S3Client;
let to: s3.S3Client;

before(async () => {
  [source, target] = await Promise.all([startObjstore(), startObjstore()]);
  from = createS3Client(source);
  to = createS3Client(target);
});
after(async () => {
  from.destroy();
  to.destroy();
  await Promise.all([source.stop(), target.stop()]);
});

const swath = join(import.meta.dirname, "../../../bin/swath");
const migrate = (...more: readonly string[]) =>
  runCommand(swath, ["objstore", "migrate", "--from", source.url, "--to", target.url, ...more], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      SOURCE_ACCESS_KEY: ROOT.accessKeyId,
      SOURCE_SECRET_KEY: ROOT.secretAccessKey,
      TARGET_ACCESS_KEY: ROOT.accessKeyId,
      TARGET_SECRET_KEY: ROOT.secretAccessKey,
    },
  });

/** All versions of a bucket, newest first, by what they are. */
async function list(client: s3.S3Client, bucket = Bucket) {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new s3.ListObjectVersionsCommand({ Bucket: bucket }));
  return {
    versions: Versions.map(({ Key, ETag, Size, IsLatest }) => ({ Key, ETag, Size, IsLatest })),
    markers: DeleteMarkers.map(({ Key, IsLatest }) => ({ Key, IsLatest })),
  };
}

test("buckets are copied with versions, headers, tags, locks and settings, and once more only what is new", async () => {
  await from.send(new s3.CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  const put = (Key: string, Body: string | Buffer, more: Partial<s3.PutObjectCommandInput> = {}) =>
    from.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...more }));
  const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000);
  await put("a/1", "first", { ContentType: "text/plain", Metadata: { colour: "blue" }, Tagging: "k=v%20w" });
  await put("a/1", "second");
  await put("deleted", "gone");
  await from.send(new s3.DeleteObjectCommand({ Bucket, Key: "deleted" }));
  await put("held", Buffer.alloc(100_000, "x"), { ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: until });
  const upload = { Bucket, Key: "parts" };
  const { UploadId } = await from.send(new s3.CreateMultipartUploadCommand({ ...upload, ContentType: "image/tiff" }));
  const Parts = [];
  for (const [PartNumber, Body] of [
    [2, PART],
    [5, Buffer.from("tail")],
  ] as const) {
    Parts.push({
      PartNumber,
      ETag: (await from.send(new s3.UploadPartCommand({ ...upload, UploadId, PartNumber, Body }))).ETag,
    });
  }
  await from.send(new s3.CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts } }));
  const Tagging = { TagSet: [{ Key: "team", Value: "blue" }] };
  await from.send(new s3.PutBucketTaggingCommand({ Bucket, Tagging }));
  const rule = { ID: "old", Status: "Enabled", Filter: { Prefix: "old/" }, Expiration: { Days: 30 } } as const;
  await from.send(new s3.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [rule] } }));
  const statement = { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/a/*` };
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await from.send(new s3.PutBucketPolicyCommand({ Bucket, Policy }));

  const first = await migrate();
  assert.equal(first.status, 0, first.stdout + first.stderr);
  assert.match(first.stdout, /moving: 6 versions copied, 0 were there, 0 problems/);
  assert.deepEqual(await list(to), await list(from));
  const { VersionId } =
    (await to.send(new s3.ListObjectVersionsCommand({ Bucket, Prefix: "a/1" }))).Versions?.[1] ?? {};
  const old = await to.send(new s3.GetObjectCommand({ Bucket, Key: "a/1", VersionId }));
  assert.equal(await old.Body?.transformToString(), "first");
  assert.deepEqual([old.ContentType, old.Metadata, old.TagCount], ["text/plain", { colour: "blue" }, 1]);
  const held = await to.send(new s3.HeadObjectCommand({ Bucket, Key: "held" }));
  assert.deepEqual([held.ObjectLockMode, held.ObjectLockRetainUntilDate], ["GOVERNANCE", until]);
  assert.deepEqual((await to.send(new s3.GetBucketTaggingCommand({ Bucket }))).TagSet, Tagging.TagSet);
  assert.equal((await to.send(new s3.GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules?.[0]?.ID, "old");
  assert.deepEqual(
    JSON.parse((await to.send(new s3.GetBucketPolicyCommand({ Bucket }))).Policy ?? ""),
    JSON.parse(Policy),
  );

  await put("a/1", "third");
  const second = await migrate("--bucket", Bucket);
  assert.match(second.stdout, /moving: 1 versions copied, 6 were there, 0 problems/);
  assert.deepEqual(await list(to), await list(from));
});

test("a key that was changed at the target is a problem, not overwritten; without versions the newest counts", async () => {
  await to.send(new s3.PutObjectCommand({ Bucket, Key: "a/1", Body: "of somebody else" }));
  const { status, stdout } = await migrate("--bucket", Bucket);
  assert.equal(status, 1);
  assert.match(stdout, /a\/1: the target has other versions of this key/);
  await from.send(new s3.CreateBucketCommand({ Bucket: "plain" }));
  const put = (Body: string) => from.send(new s3.PutObjectCommand({ Bucket: "plain", Key: "k", Body }));
  await put("one");
  await migrate("--bucket", "plain");
  await put("two");
  assert.match((await migrate("--bucket", "plain")).stdout, /plain: 1 versions copied, 0 were there, 0 problems/);
  assert.match((await migrate("--bucket", "plain")).stdout, /plain: 0 versions copied, 1 were there, 0 problems/);
  const { Body } = await to.send(new s3.GetObjectCommand({ Bucket: "plain", Key: "k" }));
  assert.equal(await Body?.transformToString(), "two");
});

/** A service that lists no versions and says of its own buckets that they exist, as some do; the rest is the target's. */
async function startPlainTarget(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const upstream = new URL(target.url);
  const refuse = (response: ServerResponse, status: number, code: string) =>
    response.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`);
  const server = createServer((message, response) => {
    const { method, headers, url: path = "/" } = message;
    if (/[?&]versions\b/.test(path)) {
      refuse(response, 405, "MethodNotAllowed");
      return;
    }
    const forwarded = request({ host: upstream.hostname, port: upstream.port, method, headers, path }, (reply) => {
      if (reply.statusCode === 200 && method === "PUT" && /^\/[a-z]+\/?(\?|$)/.test(path) && !isNew(path)) {
        reply.resume();
        refuse(response, 409, "BucketAlreadyExists");
      } else {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
      }
    });
    message.pipe(forwarded);
  });
  const made = new Set<string>();
  const isNew = (path: string) => made.size < made.add(path).size;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a service without versions takes buckets without versions, and a second run goes on", async () => {
  const plain = await startPlainTarget();
  try {
    await from.send(new s3.CreateBucketCommand({ Bucket: "simple" }));
    const put = (Key: string, Body: string) => from.send(new s3.PutObjectCommand({ Bucket: "simple", Key, Body }));
    await put("a", "one");
    await put("b/ö", "two");
    const run = () => migrate("--to", plain.url, "--bucket", "simple");
    assert.match((await run()).stdout, /simple: 2 versions copied, 0 were there, 0 problems/);
    await put("a", "changed");
    assert.match((await run()).stdout, /simple: 1 versions copied, 1 were there, 0 problems/);
    const { Body } = await to.send(new s3.GetObjectCommand({ Bucket: "simple", Key: "a" }));
    assert.equal(await Body?.transformToString(), "changed");
  } finally {
    plain.stop();
  }
});

test("what cannot be copied is told", async () => {
  const customer = { SSECustomerAlgorithm: "AES256", SSECustomerKey: Buffer.alloc(32, "k").toString("base64") };
  await from.send(new s3.CreateBucketCommand({ Bucket: "locked" }));
  await from.send(new s3.PutObjectCommand({ Bucket: "locked", Key: "secret", Body: "x", ...customer }));
  const { status, stdout } = await migrate("--bucket", "locked");
  assert.equal(status, 1);
  assert.match(stdout, /secret: /);
  assert.equal((await callAdmin(target, "GET", "/api/buckets/locked")).body.objects, 0);
});
