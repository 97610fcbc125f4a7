import assert from "node:assert/strict";
import { after, before, test as declare } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";

import { type TestResponse, ROOT, type Fixture, needsAws, startFixture } from "./fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  fixture.startReconciler(undefined, { OBJSTORE_ADMIN_URL: undefined });
});
after(() => fixture.close());
const test = (name: string, body: () => Promise<void>) => declare(name, needsAws, body);

/** The AWS CLI with the keys that the platform was given for the existing storage. */
const aws = (...args: readonly string[]) =>
  runCommand("aws", ["--endpoint-url", fixture.objstoreUrl, ...args], {
    env: {
      PATH: process.env["PATH"],
      AWS_ACCESS_KEY_ID: ROOT.user,
      AWS_SECRET_ACCESS_KEY: ROOT.password,
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
    input: "hello\n",
  });
/** Names that are not the user's own are an operator's to give. */
const createForEric = (name: string) =>
  fixture.send("admin", "POST", "/workspaces", { preferred_name: name, default_owner: "eric" });
const ready = (name: string) =>
  waitUntil(`${name} is ready`, async () => {
    const { body } = await fixture.send("eric", "GET", `/workspaces/${name}`);
    return body.status === "ready" ? (body as TestResponse["body"]) : undefined;
  });

test("in an existing storage a workspace gets its bucket by plain S3, no keys and no quota, and says so", async () => {
  assert.equal((await fixture.send("eric", "POST", "/workspaces", { preferred_name: "eric" })).status, 201);
  const { storage } = await ready("ws-eric");
  assert.deepEqual(storage.credentials, {
    bucketname: "ws-eric",
    access: "",
    secret: "",
    projectid: "",
    endpoint: fixture.objstoreUrl,
    region: "us-east-1",
  });
  assert.equal(storage.quota_in_mb, null);
  assert.match(storage.note, /existing object storage/);
  assert.equal((await aws("s3", "cp", "-", "s3://ws-eric/results/a.txt")).status, 0);
  const { status, body } = await fixture.callInternally("eric");
  assert.equal(status, 200);
  assert.deepEqual([body.storage.credentials.bucketname, body.storage.credentials.access], ["ws-eric", ""]);
});

test("a bucket that went away is made again and reported", async () => {
  assert.equal((await createForEric("lost")).status, 201);
  await ready("ws-lost");
  assert.equal((await aws("s3", "rb", "s3://ws-lost")).status, 0);
  const { repairs } = await waitUntil("it is repaired", async () => {
    const { body } = await fixture.send("eric", "GET", "/workspaces/ws-lost");
    return body.repairs.length > 0 ? (body as TestResponse["body"]) : undefined;
  });
  assert.match(repairs[0].what, /bucket ws-lost was gone/);
});

test("deleting keeps the data or empties the bucket and deletes it", async () => {
  assert.equal((await createForEric("end")).status, 201);
  await ready("ws-end");
  await aws("s3", "cp", "-", "s3://ws-end/deep/a.txt");
  const gone = () =>
    waitUntil("it is gone", async () => (await fixture.send("eric", "GET", "/workspaces/ws-end")).status === 404);
  await fixture.send("eric", "DELETE", "/workspaces/ws-end");
  await gone();
  assert.match((await aws("s3", "ls", "s3://ws-end/deep/")).stdout, /a\.txt/);
  assert.equal((await createForEric("end")).status, 201);
  await ready("ws-end");
  await fixture.send("eric", "DELETE", "/workspaces/ws-end?data=purge");
  await gone();
  assert.match((await aws("s3", "ls", "s3://ws-end/")).stderr, /NoSuchBucket/);
});
