import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { compiledCode, findFreePorts, waitUntil } from "@swath/testing";

import { type RegistryClient, createClient, createProject, digestOf } from "./client.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

const KEYS = { user: "root", password: "password-of-the-object-storage" };
let objstore: ChildProcess;
let folder: string;
let storage: S3Client;
let registry: TestRegistry;
let client: RegistryClient;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swath-registry-s3-"));
  const [port, consolePort] = await findFreePorts(2);
  const url = `http://127.0.0.1:${port}`;
  objstore = spawn(process.execPath, [join(import.meta.dirname, "../../objstore/main.ts")], {
    env: {
      PATH: process.env["PATH"],
      ...compiledCode,
      LOG_LEVEL: "error",
      DATA_DIR: folder,
      PUBLIC_URL: url,
      LISTEN: `127.0.0.1:${port}`,
      LISTEN_CONSOLE: `127.0.0.1:${consolePort}`,
      OBJSTORE_ROOT_USER: KEYS.user,
      OBJSTORE_ROOT_PASSWORD: KEYS.password,
      OBJSTORE_RESERVED_MIB: "1",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("the object storage answers", async () => {
    const response = await fetch(`http://127.0.0.1:${consolePort}/healthz`).catch(() => undefined);
    return response?.ok;
  });
  storage = new S3Client({
    endpoint: url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: KEYS.user, secretAccessKey: KEYS.password },
  });
  registry = await startTestRegistry({
    BLOBS: "s3",
    S3_URL: url,
    S3_PUBLIC_URL: url,
    S3_ACCESS_KEY: KEYS.user,
    S3_SECRET_KEY: KEYS.password,
    COLLECT_INTERVAL: "1s",
  });
  client = createClient(registry.url);
  await createProject(client, "lab");
});
after(async () => {
  await registry.close();
  storage.destroy();
  objstore.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const objects = async () => (await storage.send(new ListObjectsV2Command({ Bucket: "registry" }))).KeyCount;
const uploads = async () =>
  (await storage.send(new ListMultipartUploadsCommand({ Bucket: "registry" }))).Uploads?.length ?? 0;

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
  const digest = digestOf(content);
  const done = await client.call("PUT", `${path}?digest=${digest}`, { body: content.subarray(sent) });
  assert.equal(done.status, 201, done.body.toString());
  const read = await client.call("GET", `/v2/lab/large/blobs/${digest}`);
  assert.equal(digestOf(read.body), digest);
  const part = await client.call("GET", `/v2/lab/large/blobs/${digest}`, {
    headers: { range: "bytes=6291450-6291470" },
  });
  assert.deepEqual(part.body, content.subarray(6_291_450, 6_291_471));
  const small = await client.pushBlob("lab/large", Buffer.from("small"));
  assert.equal((await client.call("GET", `/v2/lab/large/blobs/${small}`)).body.toString(), "small");
  await client.pushBlob("lab/large", Buffer.alloc(0));
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
