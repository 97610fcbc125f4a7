import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { scrubWhenDue } from "../background/scrub-schedule.ts";
import { Damages } from "../background/damages.ts";
import { Scrub } from "../background/scrub.ts";
import { applyLifecycle } from "../background/lifecycle.ts";
import { openStore } from "../store/store.ts";
import { startIssuer } from "./start-issuer.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

test("AssumeRoleWithWebIdentity: a token becomes keys for what its role allows", async (t) => {
  const issuer = await startIssuer();
  const store = await startObjstore({ IDENTITY_ISSUER: issuer.url });
  t.after(async () => {
    issuer.stop();
    await store.stop();
  });
  const authorization = `Basic ${Buffer.from(`${ROOT.accessKeyId}:${ROOT.secretAccessKey}`).toString("base64")}`;
  const put = (path: string, body?: object) =>
    fetch(`${store.consoleUrl}${path}`, {
      method: "PUT",
      headers: { authorization, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const statement = { Effect: "Allow", Action: "s3:*", Resource: "arn:aws:s3:::ws-${jwt:preferred_username}/*" };
  assert.equal((await put("/api/buckets/ws-eric")).status, 201);
  assert.equal((await put("/api/buckets/ws-bob")).status, 201);
  const role = {
    policy: { Version: "2012-10-17", Statement: [statement] },
    claim: "realm_access.roles",
    value: "user",
  };
  assert.equal((await put("/api/roles/user", role)).status, 204);
  const assume = async (roles: string[], from = issuer.url, policy?: object) => {
    const token = await issuer.sign("eric", { realm_access: { roles } }, from);
    const body = new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      WebIdentityToken: token,
      ...(policy && { Policy: JSON.stringify(policy) }),
    });
    const response = await fetch(store.url, { method: "POST", body });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await assume(["admin"])).status, 200, "the role for administrators is there by itself");
  const { status, text } = await assume(["user"]);
  assert.equal(status, 200, text);
  const read = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(text)?.[1] ?? "";
  const credentials = {
    accessKeyId: read("AccessKeyId"),
    secretAccessKey: read("SecretAccessKey"),
    sessionToken: read("SessionToken"),
  };
  const eric = new s3.S3Client({ endpoint: store.url, region: "us-east-1", forcePathStyle: true, credentials });
  await eric.send(new s3.PutObjectCommand({ Bucket: "ws-eric", Key: "a", Body: "x" }));
  await assert.rejects(eric.send(new s3.PutObjectCommand({ Bucket: "ws-bob", Key: "a", Body: "x" })), /Access Denied/);
  eric.destroy();
  const onlyRead = { Effect: "Allow", Action: "s3:GetObject", Resource: "arn:aws:s3:::*" };
  const narrowed = await assume(["user"], issuer.url, { Version: "2012-10-17", Statement: [onlyRead] });
  assert.equal(narrowed.status, 200, narrowed.text);
  const readNarrowed = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(narrowed.text)?.[1] ?? "";
  const reader = new s3.S3Client({
    endpoint: store.url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: {
      accessKeyId: readNarrowed("AccessKeyId"),
      secretAccessKey: readNarrowed("SecretAccessKey"),
      sessionToken: readNarrowed("SessionToken"),
    },
  });
  await reader.send(new s3.GetObjectCommand({ Bucket: "ws-eric", Key: "a" }));
  await assert.rejects(
    reader.send(new s3.PutObjectCommand({ Bucket: "ws-eric", Key: "a", Body: "y" })),
    /Access Denied/,
    "a session policy takes the right to write",
  );
  await assert.rejects(reader.send(new s3.GetObjectCommand({ Bucket: "ws-bob", Key: "a" })), /Access Denied/);
  reader.destroy();
  assert.equal((await assume(["user"], issuer.url, { Statement: [{ Effect: "Maybe" }] })).status, 400);
  const { sessionToken: _, ...withoutToken } = credentials;
  const thief = new s3.S3Client({
    endpoint: store.url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: withoutToken,
  });
  await assert.rejects(thief.send(new s3.GetObjectCommand({ Bucket: "ws-eric", Key: "a" })), /token/);
  thief.destroy();
  assert.equal((await assume(["guest"])).status, 403);
  assert.equal((await assume(["user"], "http://elsewhere")).status, 400);
});

test("the scrub finds changed and missing content; the lifecycle expires what is due", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-scrub-"));
  const fail = (error: unknown) => assert.fail(String(error));
  let now = Date.now();
  const store = await openStore({ directory, now: () => now, onFailure: fail, onBackgroundError: fail });
  try {
    const bucket = await store.buckets.create("b", "root", now);
    for (const key of ["sound", "changed", "missing"]) {
      const writer = await store.files.create(["md5"]);
      await writer.write(Buffer.alloc(100_000, key));
      const file = await writer.finish();
      const etag = Buffer.from(file.digests.md5 ?? []).toString("hex");
      await store.versions.put(bucket, {
        key,
        size: file.size,
        etag,
        owner: "root",
        headers: {},
        content: { kind: "file", file },
      });
      writer.settle();
      if (key === "changed") {
        await writeFile(store.files.pathOf(file.id), Buffer.alloc(100_000, "rot"));
      } else if (key === "missing") {
        await rm(store.files.pathOf(file.id));
      }
    }
    const report = await new Scrub(store, new Damages(store, () => {})).run(new AbortController().signal);
    assert.deepEqual([report.checked, report.damaged.length], [3, 2]);
    const rule =
      "<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix>s</Prefix></Filter><Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>";
    await store.buckets.set("b", "lifecycle", rule);
    assert.equal(await applyLifecycle(store, new AbortController().signal), 0);
    now += 4 * 24 * 3600 * 1000;
    assert.equal(await applyLifecycle(store, new AbortController().signal), 1);
    assert.equal(store.versions.findLatest(bucket.id, "sound"), undefined);
    assert.ok(store.versions.findLatest(bucket.id, "changed"));
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("lifecycle rules choose by tag, size and number of newer versions", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-lifecycle-"));
  const fail = (error: unknown) => assert.fail(String(error));
  let now = Date.now();
  const store = await openStore({ directory, now: () => now, onFailure: fail, onBackgroundError: fail });
  try {
    const bucket = await store.buckets.create("b", "root", now);
    await store.buckets.set("b", "versioning", "Enabled");
    const put = (key: string, size: number, tags?: Record<string, string>) =>
      store.versions.put(bucket, {
        key,
        size,
        etag: "e",
        owner: "root",
        headers: {},
        tags,
        content: { kind: "inline", data: new Uint8Array(size), md5: "e" },
      });
    await put("tagged", 10, { keep: "no", by: "x" });
    await put("otherwise-tagged", 10, { keep: "yes" });
    await put("large", 5000);
    for (let n = 0; n < 4; n += 1) {
      await put("versions", 10 + n);
    }
    const run = async (filter: string, action: string) => {
      const rule = `<Rule><Status>Enabled</Status><Filter>${filter}</Filter>${action}</Rule>`;
      await store.buckets.set("b", "lifecycle", `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`);
      return applyLifecycle(store, new AbortController().signal);
    };
    const expire = "<Expiration><Days>1</Days></Expiration>";
    const tag = "<Tag><Key>keep</Key><Value>no</Value></Tag>";
    now += 3 * 24 * 3600 * 1000;
    assert.equal(
      await run(`<And><Prefix></Prefix>${tag}<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan></And>`, expire),
      0,
    );
    assert.equal(await run(tag, expire), 1);
    assert.equal(store.versions.findLatest(bucket.id, "tagged")?.marker, 1);
    assert.equal(await run("<ObjectSizeGreaterThan>4999</ObjectSizeGreaterThan>", expire), 1);
    assert.equal(store.versions.findLatest(bucket.id, "otherwise-tagged")?.marker, 0);
    const noncurrent = (kept: string) =>
      `<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>${kept}</NoncurrentVersionExpiration>`;
    const two = "<NewerNoncurrentVersions>2</NewerNoncurrentVersions>";
    assert.equal(await run("<Prefix>versions</Prefix>", noncurrent(two)), 1);
    assert.equal(await run("<Prefix>versions</Prefix>", noncurrent("")), 2);
    await assert.rejects(run("<Size>1</Size>", expire), /A Filter holds one of/);
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("the scrub is due a day after the last one, however often the service started", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-schedule-"));
  const fail = (error: unknown) => assert.fail(String(error));
  let now = Date.now();
  const runs: number[] = [];
  const start = async () => {
    const store = await openStore({ directory, now: () => now, onFailure: fail, onBackgroundError: fail });
    const scrub = new Scrub(store, new Damages(store, () => {}));
    const options = { signal: new AbortController().signal, interval: 24 * 3600 * 1000, bytesPerSecond: 1e9 };
    await scrubWhenDue(store, scrub, options);
    runs.push(scrub.report.started);
    await store.close();
  };
  await start();
  now += 23 * 3600 * 1000;
  await start();
  now += 2 * 3600 * 1000;
  await start();
  assert.deepEqual(
    runs.map((started) => started > 0),
    [true, false, true],
  );
  await rm(directory, { recursive: true, force: true });
});
