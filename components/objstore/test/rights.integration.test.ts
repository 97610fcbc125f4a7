import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { FailureDelays } from "@swath/service/failure-delays";
import { waitUntil } from "@swath/testing";

import { StalledRequests } from "../background/stalled.ts";
import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let root: s3.S3Client;
const clients: s3.S3Client[] = [];
const EVERYTHING = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "*" }] };

before(async () => {
  store = await startObjstore();
  root = createS3Client(store, { maxAttempts: 1 });
});
after(async () => {
  for (const client of [root, ...clients]) {
    client.destroy();
  }
  await store.stop();
});

const basic = (key: { accessKey: string; secretKey: string }) =>
  `Basic ${Buffer.from(`${key.accessKey}:${key.secretKey}`).toString("base64")}`;
async function addUser(name: string, more: object = {}) {
  await callAdmin(store, "PUT", `/api/users/${name}`, { policy: EVERYTHING, ...more });
  return addKey({ user: name });
}
async function addKey(body: object, authorization?: string) {
  const { status, body: key } = await callAdmin(store, "POST", "/api/access-keys", body, authorization);
  assert.equal(status, 201, JSON.stringify(key));
  return key as { accessKey: string; secretKey: string; expires: string | null };
}
function connect({ accessKey, secretKey }: { accessKey: string; secretKey: string }): s3.S3Client {
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey };
  const client = createS3Client(store, { maxAttempts: 1, credentials });
  clients.push(client);
  return client;
}
const read = (client: s3.S3Client, Bucket: string, Key: string) =>
  client.send(new s3.GetObjectCommand({ Bucket, Key })).then(
    ({ Body }) => Body?.transformToString(),
    (error: Error) => error.name,
  );
const setPolicy = (Bucket: string, ...Statement: object[]) =>
  root.send(new s3.PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: "2012-10-17", Statement }) }));

test("a Deny by the tag of an object holds, also for people nobody knows", async () => {
  const Bucket = "tagged";
  await root.send(new s3.CreateBucketCommand({ Bucket }));
  for (const Key of ["open", "secret"]) {
    await root.send(new s3.PutObjectCommand({ Bucket, Key, Body: Key, Tagging: `class=${Key}` }));
  }
  const all = { Principal: "*", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/*` };
  const Condition = { StringEquals: { "s3:ExistingObjectTag/class": "secret" } };
  await setPolicy(Bucket, { Effect: "Allow", ...all }, { Effect: "Deny", ...all, Condition });
  assert.equal((await fetch(`${store.url}/${Bucket}/open`)).status, 200);
  assert.equal((await fetch(`${store.url}/${Bucket}/secret`)).status, 403);
  for (const bad of [{ Action: "s3:GetObjectt" }, { Condition: { StringEquals: { "s3:NoSuchKey": "x" } } }]) {
    await assert.rejects(setPolicy(Bucket, { Effect: "Deny", ...all, ...bad }), { name: "MalformedPolicy" });
  }
});

test("a narrowed key is narrowed where the policy of a bucket lets its user in, too", async () => {
  const Bucket = "narrow";
  await root.send(new s3.CreateBucketCommand({ Bucket }));
  for (const Key of ["a", "b"]) {
    await root.send(new s3.PutObjectCommand({ Bucket, Key, Body: Key }));
  }
  await setPolicy(Bucket, {
    Effect: "Allow",
    Principal: { AWS: "arn:aws:iam:::user/nora" },
    Action: "s3:GetObject",
    Resource: `arn:aws:s3:::${Bucket}/*`,
  });
  const full = await addUser("nora", { policy: { Statement: [] } });
  const policy = { Statement: [{ Effect: "Allow", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/a` }] };
  const narrowed = await addKey({ user: "nora", policy });
  assert.deepEqual([await read(connect(full), Bucket, "a"), await read(connect(full), Bucket, "b")], ["a", "b"]);
  const client = connect(narrowed);
  assert.deepEqual([await read(client, Bucket, "a"), await read(client, Bucket, "b")], ["a", "AccessDenied"]);
  // Nor may it do away with the keys that are not.
  const path = `/api/access-keys/${full.accessKey}`;
  assert.equal((await callAdmin(store, "DELETE", path, undefined, basic(narrowed))).status, 403);
  assert.equal((await callAdmin(store, "PATCH", path, { enabled: false }, basic(narrowed))).status, 403);
  const own = `/api/access-keys/${narrowed.accessKey}`;
  assert.equal((await callAdmin(store, "DELETE", own, undefined, basic(narrowed))).status, 204);
});

test("a key of a given id and secret is the root user's to make, and another secret takes the first one's place", async () => {
  const Bucket = "given";
  await root.send(new s3.CreateBucketCommand({ Bucket }));
  await root.send(new s3.PutObjectCommand({ Bucket, Key: "a", Body: "a" }));
  const other = await addUser("olga");
  await addUser("gina");
  const accessKey = "AKIA0123456789ABCDEF";
  const path = `/api/access-keys/${accessKey}`;
  const [first, second] = ["1", "2"].map((digit) => ({ accessKey, secretKey: digit.repeat(40) }));
  const put = (key: { secretKey: string } | undefined, user = "gina", at = path, authorization?: string) =>
    callAdmin(store, "PUT", at, { user, secretKey: key?.secretKey ?? "" }, authorization);
  assert.ok(first && second);
  assert.equal((await put(first, "olga", path, basic(other))).status, 403);
  assert.equal((await put(first, "nobody")).status, 404);
  assert.equal((await put({ secretKey: "short" })).status, 400);
  assert.equal((await put(first, "gina", "/api/access-keys/AKIAshort")).status, 400);
  const { status, body } = await put(first);
  assert.deepEqual([status, body.accessKey, body.user, body.secretKey], [200, accessKey, "gina", undefined]);
  assert.equal(await read(connect(first), Bucket, "a"), "a");
  assert.equal((await put(second, "olga")).status, 409);
  const session = (await callAdmin(store, "POST", "/api/session", first)).body.session as string;
  const isSignedIn = async () => (await callAdmin(store, "GET", "/api/session", undefined, `Bearer ${session}`)).status;
  assert.equal((await put(first)).status, 200);
  assert.equal(await isSignedIn(), 200, "the same key again ends nothing");
  assert.equal((await put(second)).status, 200);
  assert.equal(await isSignedIn(), 401);
  assert.equal(await read(connect(first), Bucket, "a"), "SignatureDoesNotMatch");
  assert.equal(await read(connect(second), Bucket, "a"), "a");
});

test("a key that ends makes none that lasts", async () => {
  await addUser("tom");
  const expiresAt = new Date(Date.now() + 3600_000).toISOString();
  const ending = await addKey({ user: "tom", expiresAt });
  const made = await addKey({}, basic(ending));
  assert.equal(made.expires, ending.expires);
  const later = { expiresAt: new Date(Date.now() + 7200_000).toISOString() };
  assert.equal((await callAdmin(store, "POST", "/api/access-keys", later, basic(ending))).status, 403);
  const { body: session } = await callAdmin(store, "POST", "/api/session", ending);
  const bySession = await addKey({}, `Bearer ${session.session}`);
  assert.equal(bySession.expires, ending.expires);
});

test("BlockPublicPolicy holds on every way a policy comes, and whatever makes it public", async () => {
  const Bucket = "blocked";
  await root.send(new s3.CreateBucketCommand({ Bucket }));
  const PublicAccessBlockConfiguration = { BlockPublicPolicy: true };
  await root.send(new s3.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
  const base = { Effect: "Allow", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/*` };
  await assert.rejects(setPolicy(Bucket, { ...base, NotPrincipal: { AWS: "arn:aws:iam:::user/nobody" } }), {
    name: "MalformedPolicy",
  });
  for (const more of [
    { Principal: "*" },
    { Principal: "*", Condition: { StringLike: { "aws:Referer": "*" } } },
    { Principal: "*", Condition: { IpAddress: { "aws:SourceIp": "0.0.0.0/0" } } },
  ]) {
    await assert.rejects(setPolicy(Bucket, { ...base, ...more }), { name: "AccessDenied" });
    const policy = { Version: "2012-10-17", Statement: [{ ...base, ...more }] };
    assert.equal((await callAdmin(store, "PUT", `/api/buckets/${Bucket}/policy`, policy)).status, 403);
  }
  await setPolicy(Bucket, { ...base, Principal: { AWS: "arn:aws:iam:::user/tom" } });
});

test("accounts of their own: nobody else's policy reaches in, lists and bucket policies do", async () => {
  const anna = connect(await addUser("anna", { account: "anna" }));
  const bert = connect(await addUser("bert", { account: "bert" }));
  const Bucket = "annas";
  await anna.send(new s3.CreateBucketCommand({ Bucket, ObjectOwnership: "ObjectWriter" }));
  await anna.send(new s3.PutObjectCommand({ Bucket, Key: "mine", Body: "mine" }));
  assert.equal(await read(bert, Bucket, "mine"), "AccessDenied");
  await anna.send(new s3.PutObjectAclCommand({ Bucket, Key: "mine", GrantRead: 'id="bert"' }));
  assert.equal(await read(bert, Bucket, "mine"), "mine");
  assert.equal((await fetch(`${store.url}/${Bucket}/mine`)).status, 403);
  await anna.send(new s3.PutObjectAclCommand({ Bucket, Key: "mine", ACL: "public-read" }));
  assert.equal((await fetch(`${store.url}/${Bucket}/mine`)).status, 200);
  const PublicAccessBlockConfiguration = { IgnorePublicAcls: true };
  await anna.send(new s3.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
  assert.equal((await fetch(`${store.url}/${Bucket}/mine`)).status, 403);
  const { Buckets } = await bert.send(new s3.ListBucketsCommand({}));
  assert.deepEqual(Buckets ?? [], []);
});

test("Object Lock: what is retained or held stays; governance is passed over by whoever may", async () => {
  const Bucket = "locked";
  await root.send(new s3.CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  const Retention = { Mode: "GOVERNANCE", RetainUntilDate: new Date(Date.now() + 3600_000) } as const;
  const { VersionId } = await root.send(
    new s3.PutObjectCommand({
      Bucket,
      Key: "k",
      Body: "x",
      ObjectLockMode: Retention.Mode,
      ObjectLockRetainUntilDate: Retention.RetainUntilDate,
    }),
  );
  const version = { Bucket, Key: "k", VersionId };
  await assert.rejects(root.send(new s3.DeleteObjectCommand(version)), { name: "AccessDenied" });
  const { Errors } = await root.send(
    new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "k", VersionId }] } }),
  );
  assert.equal(Errors?.[0]?.Code, "AccessDenied");
  const denied = { Effect: "Deny", Action: "s3:BypassGovernanceRetention", Resource: "*" };
  const weak = connect(await addUser("weak", { policy: { Statement: [...EVERYTHING.Statement, denied] } }));
  const bypass = new s3.DeleteObjectCommand({ ...version, BypassGovernanceRetention: true });
  await assert.rejects(weak.send(bypass), { name: "AccessDenied" });
  await root.send(new s3.PutObjectLegalHoldCommand({ ...version, LegalHold: { Status: "ON" } }));
  await assert.rejects(root.send(bypass), { name: "AccessDenied" });
  await root.send(new s3.PutObjectLegalHoldCommand({ ...version, LegalHold: { Status: "OFF" } }));
  await root.send(bypass);
});

test("who may delete nothing is told before a byte of the body is read", async () => {
  await root.send(new s3.CreateBucketCommand({ Bucket: "closed" }));
  const outgoing = request(`${store.url}/closed?delete`, { method: "POST", headers: { "content-length": 4 << 20 } });
  outgoing.on("error", () => {});
  outgoing.flushHeaders();
  const [response] = (await once(outgoing, "response")) as [{ statusCode: number; resume: () => void }];
  assert.equal(response.statusCode, 403);
  response.resume();
  outgoing.destroy();
});

test("wrong passwords slow down whoever sends them and lock nobody out", async () => {
  const wrong = { accessKey: ROOT.accessKeyId, secretKey: "wrong" };
  const tries = await Promise.all(Array.from({ length: 14 }, () => callAdmin(store, "POST", "/api/session", wrong)));
  assert.ok(tries.every(({ status }) => status === 401 || status === 429));
  assert.ok(tries.some(({ status }) => status === 429));
  const right = { accessKey: ROOT.accessKeyId, secretKey: ROOT.secretAccessKey };
  assert.equal((await callAdmin(store, "POST", "/api/session", right)).status, 200);
});

test("wrong signatures are answered when whoever sends them has waited, right ones at once", async (t) => {
  await root.send(new s3.CreateBucketCommand({ Bucket: "signed" }));
  const held = Promise.withResolvers<void>();
  const slow = t.mock.method(FailureDelays.prototype, "slow", () => held.promise);
  const answered: string[] = [];
  const head = (client: s3.S3Client, name: string) =>
    client
      .send(new s3.HeadBucketCommand({ Bucket: "signed" }))
      .catch(() => {})
      .then(() => answered.push(name));
  const wrong = head(connect({ accessKey: ROOT.accessKeyId, secretKey: "wrong" }), "wrong secret");
  const unknown = head(connect({ accessKey: "nobody", secretKey: "wrong" }), "unknown key");
  await waitUntil("both are held", () => slow.mock.callCount() === 2);
  await head(root, "right");
  assert.deepEqual(answered, ["right"]);
  held.resolve();
  await Promise.all([wrong, unknown]);
  assert.equal(slow.mock.callCount(), 2);
});

test("an upload that stalls is ended", async (t) => {
  await root.send(new s3.CreateBucketCommand({ Bucket: "stalling" }));
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  const watchers = new Set<StalledRequests>();
  const watch = Object.getOwnPropertyDescriptor(StalledRequests.prototype, "watch")?.value as StalledRequests["watch"];
  t.mock.method(
    StalledRequests.prototype,
    "watch",
    function (this: StalledRequests, ...values: Parameters<typeof watch>) {
      watchers.add(this);
      watch.apply(this, values);
    },
  );
  const { body } = await callAdmin(store, "POST", "/api/presign", {
    bucket: "stalling",
    key: "k",
    method: "PUT",
    seconds: 60,
  });
  const { host, pathname, search } = new URL(String(body["url"]));
  const headers = { host, "content-length": 100 << 20 };
  const outgoing = request(`${store.url}${pathname}${search}`, { method: "PUT", headers });
  outgoing.on("error", () => {});
  const closed = once(outgoing, "close");
  outgoing.write("the beginning");
  await waitUntil("the upload is watched", () => watchers.size > 0);
  let reply: IncomingMessage | undefined;
  outgoing.on("response", (response: IncomingMessage) => (reply = response.resume()));
  // What has come is for the service to take first.
  await waitUntil("the upload is ended", () => {
    now += 31_000;
    for (const each of watchers) {
      each.endStalled();
    }
    return reply !== undefined;
  });
  assert.equal(reply?.statusCode, 400);
  await closed;
  await assert.rejects(root.send(new s3.HeadObjectCommand({ Bucket: "stalling", Key: "k" })), { name: "NotFound" });
});
