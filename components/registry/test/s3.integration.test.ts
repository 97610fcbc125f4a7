import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";

import { ListMultipartUploadsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { type RegistryClient, createClient, createProject, digestOf } from "./client.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";
import { type TestStorage, startStorage } from "./start-storage.ts";

let storage: TestStorage;
let registry: TestRegistry;
let client: RegistryClient;

before(async () => {
  storage = await startStorage();
  registry = await startTestRegistry({ ...storage.env, COLLECT_INTERVAL: "1s" });
  client = createClient(registry.url);
  await createProject(client, "lab");
});
after(async () => {
  await registry?.close();
  await storage?.close();
});

const objects = async () => (await storage.client.send(new ListObjectsV2Command({ Bucket: "registry" }))).KeyCount;
const uploads = async () =>
  (await storage.client.send(new ListMultipartUploadsCommand({ Bucket: "registry" }))).Uploads?.length ?? 0;

test("content in an object storage: small and large, in chunks of any size, through a kill", async () => {
  const content = randomBytes(17 << 20);
  const start = await client.call("POST", "/v2/lab/large/blobs/uploads/");
  const path = start.headers.get("location") ?? "";
  // Behind, at and before the ends of parts.
  let sent = 0;
  for (const end of [100, 3 << 20, (6 << 20) + 5, 12 << 20, (15 << 20) + 1]) {
    const { status, body } = await client.call("PATCH", path, { body: content.subarray(sent, end) });
    assert.equal(status, 202, body.toString());
    sent = end;
    if (end === 12 << 20) {
      await registry.kill();
      await registry.start();
    }
  }
  // What is behind the last part, and the one before while it may be needed.
  assert.ok(((await objects()) ?? 9) <= 2);
  const digest = digestOf(content);
  const done = await client.call("PUT", `${path}?digest=${digest}`, { body: content.subarray(sent) });
  assert.equal(done.status, 201, done.body.toString());
  const read = await client.call("GET", `/v2/lab/large/blobs/${digest}`);
  assert.equal(digestOf(read.body), digest);
  assert.equal(await objects(), 1, "nothing is left of the chunks");
  const part = await client.call("GET", `/v2/lab/large/blobs/${digest}`, {
    headers: { range: "bytes=6291450-6291470" },
  });
  assert.deepEqual(part.body, content.subarray(6_291_450, 6_291_471));
  const small = await client.pushBlob("lab/large", Buffer.from("small"));
  assert.equal((await client.call("GET", `/v2/lab/large/blobs/${small}`)).body.toString(), "small");
  await client.pushBlob("lab/large", Buffer.alloc(0));
  // As clients do it: a chunk with everything, and an end without any.
  const whole = randomBytes(1000);
  const other = (await client.call("POST", "/v2/lab/large/blobs/uploads/")).headers.get("location") ?? "";
  await client.call("PATCH", other, { body: whole });
  assert.equal((await client.call("PUT", `${other}?digest=${digestOf(whole)}`)).status, 201);
  assert.equal(await objects(), 4);
});

test("what is deleted or given up leaves nothing in the bucket", async () => {
  await client.pushImage("lab/image", "1", [randomBytes(100)]);
  const path = (await client.call("POST", "/v2/lab/large/blobs/uploads/")).headers.get("location") ?? "";
  await client.call("PATCH", path, { body: randomBytes(7 << 20) });
  assert.equal(await uploads(), 1);
  assert.equal((await client.call("DELETE", path)).status, 204);
  for (const name of ["large", "image"]) {
    await client.call("DELETE", `/api/v2.0/projects/lab/repositories/${name}`);
  }
  await waitUntil("the bucket is empty", async () => (await objects()) === 0 && (await uploads()) === 0);
});

test("by switch, clients are sent to presigned URLs, which open nothing else", async () => {
  const content = randomBytes(5000);
  const digest = await client.pushBlob("lab/redirected", content);
  await registry.kill();
  await registry.start({ BLOB_REDIRECTS: "true" });
  const { status, headers } = await client.call("GET", `/v2/lab/redirected/blobs/${digest}`);
  assert.equal(status, 307);
  const location = headers.get("location") ?? "";
  const read = await fetch(location);
  assert.deepEqual(Buffer.from(await read.arrayBuffer()), content);
  assert.equal((await fetch(location.replace(/registry\/[0-9a-f]/, "registry/f"))).status, 403);
  assert.equal((await fetch(location, { method: "DELETE" })).status, 403);
  assert.equal((await createClient(registry.url, "").call("GET", `/v2/lab/redirected/blobs/${digest}`)).status, 401);
});
