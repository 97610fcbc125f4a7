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
  store = await startObjstore({ OBJSTORE_SNAPSHOTS: "hourly=2", OBJSTORE_ENCRYPTION_KEYS: "a-key-of-the-tests" });
  client = createS3Client(store);
});
after(async () => {
  client.destroy();
  await store.stop();
});

const put = (Bucket: string, Key: string, Body: string | Buffer, more: Partial<s3.PutObjectCommandInput> = {}) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Bucket: string, Key: string) =>
  Buffer.from((await (await client.send(new s3.GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray()) ?? []);

/** Begins work on a snapshot and gives what came of it. */
async function perform(path: string, body?: object) {
  const begun = await callAdmin(store, "POST", path, body);
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
  return waitUntil("the work on a snapshot", async () => {
    const { job } = (await callAdmin(store, "GET", "/api/snapshots")).body;
    assert.notEqual(job.state, "failed", job.error);
    return job.id === begun.body.id && job.state === "done" ? job.result : undefined;
  });
}

test("a snapshot is made, listed, restored by bucket and as a whole, and deleted, by S3 clients nothing is lost", async () => {
  const large = Buffer.alloc(3 << 20, "large");
  for (const Bucket of ["maps", "scenes"]) {
    await client.send(new s3.CreateBucketCommand({ Bucket }));
    await put(Bucket, "small", "first");
    await put(Bucket, "large", large, { ServerSideEncryption: "AES256", Tagging: "a=1" });
  }
  const { id, buckets } = await perform("/api/snapshots");
  assert.deepEqual(
    buckets.map(({ name, objects }: { name: string; objects: number }) => [name, objects]),
    [
      ["maps", 2],
      ["scenes", 2],
    ],
  );
  const listed = (await callAdmin(store, "GET", "/api/snapshots")).body;
  assert.equal(listed.schedule, "hourly=2");
  assert.deepEqual([listed.snapshots[0].id, listed.snapshots[0].objects], [id, 4]);

  await put("maps", "small", "second");
  await client.send(new s3.DeleteObjectCommand({ Bucket: "maps", Key: "large" }));
  await client.send(new s3.DeleteObjectCommand({ Bucket: "scenes", Key: "large" }));
  await perform(`/api/snapshots/${id}/restore`, { bucket: "maps", as: "maps-then" });
  assert.equal((await read("maps-then", "small")).toString(), "first");
  assert.ok((await read("maps-then", "large")).equals(large));
  assert.equal((await read("maps", "small")).toString(), "second");

  const [restored] = await perform(`/api/snapshots/${id}/restore`, { bucket: "maps" });
  assert.equal((await read("maps", "small")).toString(), "first");
  assert.match(restored.before, /^maps-before-\d{8}t\d{6}$/);
  assert.equal((await read(restored.before, "small")).toString(), "second");
  await assert.rejects(read("scenes", "large"), { name: "NoSuchKey" });

  await perform(`/api/snapshots/${id}/restore`, {});
  assert.ok((await read("scenes", "large")).equals(large));
  const { TagSet } = await client.send(new s3.GetObjectTaggingCommand({ Bucket: "scenes", Key: "large" }));
  assert.deepEqual(TagSet, [{ Key: "a", Value: "1" }]);

  assert.equal((await callAdmin(store, "DELETE", `/api/snapshots/${id}`)).status, 204);
  assert.deepEqual((await callAdmin(store, "GET", "/api/snapshots")).body.snapshots, []);
  assert.ok((await read("scenes", "large")).equals(large));
});

test("refused: other users, unknown snapshots and buckets, names that are taken or are none", async () => {
  const { id } = await perform("/api/snapshots");
  const restore = async (body: object, snapshot = id) =>
    (await callAdmin(store, "POST", `/api/snapshots/${snapshot}/restore`, body)).status;
  assert.equal(await restore({}, "20000101T000000Z"), 404);
  assert.equal(await restore({}, "..%2F..%2Fcontent"), 404);
  assert.equal(await restore({ bucket: "nothing" }), 404);
  assert.equal(await restore({ bucket: "maps", as: "scenes" }), 409);
  assert.equal(await restore({ bucket: "maps", as: ".restore-1" }), 400);
  assert.equal(await restore({ as: "maps" }), 400);
  assert.equal((await callAdmin(store, "DELETE", "/api/snapshots/20000101T000000Z")).status, 404);
  const account = (await callAdmin(store, "POST", "/api/buckets/of-user/service-account")).body;
  const user = `Basic ${Buffer.from(`${account.accessKey}:${account.secretKey}`).toString("base64")}`;
  for (const [method, path] of [
    ["GET", "/api/snapshots"],
    ["GET", `/api/snapshots/${id}`],
    ["POST", "/api/snapshots"],
    ["POST", `/api/snapshots/${id}/restore`],
    ["DELETE", `/api/snapshots/${id}`],
  ] as const) {
    const body = path.endsWith("restore") ? {} : undefined;
    assert.equal((await callAdmin(store, method, path, body, user)).status, 403, `${method} ${path}`);
  }
});
