import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { ROOT, type Fixture, startFixture } from "./fixture.ts";

// An existing S3 cluster with IAM: here another object store of ours, of which nothing but S3 and IAM is used.

let fixture: Fixture;
const clients: s3.S3Client[] = [];

before(async () => {
  fixture = await startFixture();
  fixture.startReconciler(undefined, {
    OBJSTORE_ADMIN_URL: undefined,
    OBJSTORE_IAM_URL: fixture.objstoreUrl,
    USAGE_INTERVAL: "1s",
    DEFAULT_QUOTA_MB: "1",
  });
});
after(async () => {
  clients.forEach((client) => client.destroy());
  await fixture.close();
});

interface Credentials {
  readonly access: string;
  readonly secret: string;
}

function connect({ access, secret }: Credentials): s3.S3Client {
  const client = new s3.S3Client({
    endpoint: fixture.objstoreUrl,
    region: "us-east-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: access, secretAccessKey: secret },
  });
  clients.push(client);
  return client;
}

const read = async () => (await fixture.send("eric", "GET", "/workspaces/ws-eric")).body;
const ready = () =>
  waitUntil("the workspace is ready", async () => {
    const body = await read();
    return body.status === "ready" ? body : undefined;
  });

test("in an existing storage with IAM a workspace has keys that open its bucket alone, and a quota", async () => {
  assert.equal((await fixture.send("eric", "POST", "/workspaces", { preferred_name: "eric" })).status, 201);
  const { storage } = await ready();
  assert.notEqual(storage.credentials.secret, "");
  const root = connect({ access: ROOT.user, secret: ROOT.password });
  await root.send(new s3.CreateBucketCommand({ Bucket: "others" }));
  const own = connect(storage.credentials);
  const put = (Key: string, bytes: number, Bucket = "ws-eric") =>
    own.send(new s3.PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(bytes) }));
  await put("small", 1000);
  await assert.rejects(put("no", 1, "others"), { name: "AccessDenied" });
  await assert.rejects(own.send(new s3.ListObjectsV2Command({ Bucket: "others" })), { name: "AccessDenied" });

  // Beyond the quota nothing can be added, and what is there can be read and deleted.
  await put("large", 2 << 20);
  await waitUntil("the quota is in force", async () => {
    const refused = await put("more", 1).then(
      () => false,
      (error: Error) => error.name === "AccessDenied",
    );
    return refused || undefined;
  });
  await own.send(new s3.GetObjectCommand({ Bucket: "ws-eric", Key: "small" }));
  await own.send(new s3.DeleteObjectCommand({ Bucket: "ws-eric", Key: "large" }));
  await waitUntil("there is room again", async () => {
    const added = await put("more", 1).catch(() => undefined);
    return added === undefined ? undefined : true;
  });
  const { repairs } = await read();
  assert.deepEqual(repairs, [], "a quota that takes effect is no repair");
});

test("keys are rotated, rights that were changed are put right, and everything goes with the workspace", async () => {
  const before = (await read()).storage.credentials as Credentials;
  const { status } = await fixture.send("eric", "POST", "/workspaces/ws-eric/rotate-keys");
  assert.ok(status < 300, `rotating keys is answered ${status}`);
  const now = await waitUntil("there is a new key", async () => {
    const body = await read();
    return body.status === "ready" && body.storage.credentials.access !== before.access
      ? (body.storage.credentials as Credentials)
      : undefined;
  });
  await connect(now).send(new s3.ListObjectsV2Command({ Bucket: "ws-eric" }));
  await waitUntil("the old key is gone", async () => {
    const failed = await connect(before)
      .send(new s3.ListObjectsV2Command({ Bucket: "ws-eric" }))
      .then(
        () => undefined,
        (error: Error) => error.name,
      );
    return failed === "InvalidAccessKeyId" ? true : undefined;
  });
  await fixture.send("eric", "DELETE", "/workspaces/ws-eric?data=purge");
  await waitUntil("it is gone", async () => (await fixture.send("eric", "GET", "/workspaces/ws-eric")).status === 404);
  const root = connect({ access: ROOT.user, secret: ROOT.password });
  await assert.rejects(root.send(new s3.HeadBucketCommand({ Bucket: "ws-eric" })), { name: "NotFound" });
  await assert.rejects(connect(now).send(new s3.ListObjectsV2Command({ Bucket: "ws-eric" })), {
    name: "InvalidAccessKeyId",
  });
});
