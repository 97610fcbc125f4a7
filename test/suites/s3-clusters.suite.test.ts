// Storage of others: the IAM driver of workspaces and `swath objstore migrate` against an S3 and IAM service that is not ours, moto
// (github.com/getmoto/moto), which checks every request by the policies of the key's user.
//
// Needs Python 3 with venv and the package registry of Python; MOTO_SERVER=<moto_server> names one that is installed.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { CreateAccessKeyCommand, CreateUserCommand, IAMClient, PutUserPolicyCommand } from "@aws-sdk/client-iam";
import * as s3 from "@aws-sdk/client-s3";
import { bucketPolicy, emptyBucket, withStorageClient } from "@swath/storage-admin";
import { findFreePorts, waitUntil } from "@swath/testing";

import { createS3Client } from "../../components/objstore/test/s3-client.ts";
import { ROOT, startObjstore } from "../../components/objstore/test/start-objstore.ts";
import { createIamStorage } from "../../components/workspace-api/clients/iam-storage.ts";

const MINUTE = 60_000;
const REGION = "us-east-1";
/** What is done before the service asks for rights: a user who may do everything, and its key. */
const SETUP_ACTIONS = 3;

interface Keys {
  readonly user: string;
  readonly password: string;
}

let folder: string;
let child: ChildProcess | undefined;
let url: string;
let admin: Keys;
let reason: string | undefined;
const clients: s3.S3Client[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "s3-clusters-"));
  const program = process.env["MOTO_SERVER"] ?? installMoto(folder);
  if (program === undefined) {
    reason = "moto cannot be had from the package registry of Python (pypi.org); MOTO_SERVER may name one";
    return;
  }
  const [port] = await findFreePorts(1);
  url = `http://127.0.0.1:${port}`;
  child = spawn(program, ["-H", "127.0.0.1", "-p", String(port)], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], INITIAL_NO_AUTH_ACTION_COUNT: String(SETUP_ACTIONS) },
    stdio: "ignore",
  });
  await waitUntil("moto answers", async () => (await fetch(`${url}/moto-api/`).catch(() => undefined)) && true, 60);
  admin = await makeAdministrator();
});
after(async () => {
  clients.forEach((client) => client.destroy());
  if (child !== undefined && child.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

function installMoto(directory: string): string | undefined {
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { stdio: "ignore", timeout: 5 * MINUTE }).status === 0;
  const environment = join(directory, "venv");
  return run("python3", "-m", "venv", environment) &&
    run(join(environment, "bin/pip"), "install", "-q", "--disable-pip-version-check", "moto[server,s3,iam]")
    ? join(environment, "bin/moto_server")
    : undefined;
}

async function makeAdministrator(): Promise<Keys> {
  const iam = new IAMClient({
    endpoint: url,
    region: REGION,
    credentials: { accessKeyId: "nobody", secretAccessKey: "none" },
  });
  try {
    const UserName = "platform";
    await iam.send(new CreateUserCommand({ UserName }));
    const Statement = [{ Effect: "Allow", Action: ["s3:*", "iam:*"], Resource: "*" }];
    const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
    await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: "all", PolicyDocument }));
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
    return { user: AccessKey?.AccessKeyId ?? "", password: AccessKey?.SecretAccessKey ?? "" };
  } finally {
    iam.destroy();
  }
}

function connect({ user, password }: Keys): s3.S3Client {
  const client = new s3.S3Client({
    endpoint: url,
    region: REGION,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: user, secretAccessKey: password },
  });
  clients.push(client);
  return client;
}

test("the IAM driver gives a workspace a bucket, a quota, and a key that opens its bucket alone", async (t) => {
  if (reason !== undefined) {
    t.skip(reason);
    return;
  }
  const storage = createIamStorage({
    url,
    region: REGION,
    usageMs: 0,
    ...admin,
    withStorage: (work) => withStorageClient({ url, region: REGION, ...admin }, work),
  });
  try {
    const name = "ws-eric";
    assert.equal(await storage.findBucket(name), undefined);
    await storage.createBucket(name);
    await storage.createBucket(name);
    await storage.createBucket("others");
    await storage.setQuota(name, 1000);
    assert.deepEqual(await storage.findBucket(name), { objects: 0, bytes: 0, quotaBytes: 1000, policy: null });
    await storage.setQuota(name, null);
    assert.equal((await storage.findBucket(name))?.quotaBytes, null);

    assert.equal(await storage.findUser(name), undefined);
    await storage.putUser(name, bucketPolicy(name, "write"));
    await storage.putUser(name, bucketPolicy(name, "write"));
    assert.deepEqual(await storage.findUser(name), { policy: bucketPolicy(name, "write"), enabled: true });
    const key = await storage.createKey(name, "workspace");
    assert.deepEqual(
      (await storage.listKeys(name)).map(({ accessKey, enabled }) => [accessKey, enabled]),
      [[key.accessKey, true]],
    );
    const own = connect({ user: key.accessKey, password: key.secretKey });
    const put = (Bucket: string) => own.send(new s3.PutObjectCommand({ Bucket, Key: "k", Body: "content" }));
    await put(name);
    await assert.rejects(put("others"), { name: "AccessDenied" });
    await assert.rejects(own.send(new s3.ListObjectsV2Command({ Bucket: "others" })), { name: "AccessDenied" });
    const used = await storage.findBucket(name);
    assert.deepEqual([used?.objects, used?.bytes], [1, 7]);

    // Beyond a quota the rights to add are taken away.
    await storage.putUser(name, bucketPolicy(name, "delete"));
    await assert.rejects(put(name), { name: "AccessDenied" });
    await own.send(new s3.GetObjectCommand({ Bucket: name, Key: "k" }));
    await own.send(new s3.DeleteObjectCommand({ Bucket: name, Key: "k" }));

    await storage.deleteKey(name, key.accessKey);
    await storage.deleteKey(name, key.accessKey);
    assert.deepEqual(await storage.listKeys(name), []);
    await assert.rejects(own.send(new s3.ListObjectsV2Command({ Bucket: name })));
    await storage.deleteUser(name);
    await storage.deleteUser(name);
    assert.equal(await storage.findUser(name), undefined);
    await withStorageClient({ url, region: REGION, ...admin }, (client) => emptyBucket(client, name));
    await storage.deleteBucket(name);
    await storage.deleteBucket(name);
    assert.equal(await storage.findBucket(name), undefined);
  } finally {
    storage.close();
  }
});

const KEYS = 120;
const swath = join(import.meta.dirname, "../../bin/swath");

test("a migration there that is killed goes on where it was, and what is there is what was here", async (t) => {
  if (reason !== undefined) {
    t.skip(reason);
    return;
  }
  const source = await startObjstore();
  const from = createS3Client(source);
  const to = connect(admin);
  try {
    const Bucket = "moving";
    await from.send(new s3.CreateBucketCommand({ Bucket }));
    await from.send(new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
    const put = (Key: string, Body: Buffer | string) => from.send(new s3.PutObjectCommand({ Bucket, Key, Body }));
    for (let n = 0; n < KEYS; n += 1) {
      await put(`scenes/${n}`, randomBytes(n % 20 === 0 ? 200_000 : 500));
    }
    await put("scenes/0", "its second version");
    await from.send(new s3.DeleteObjectCommand({ Bucket, Key: "scenes/1" }));
    const { UploadId } = await from.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "parts" }));
    const Parts: s3.CompletedPart[] = [];
    for (const [PartNumber, size] of [
      [1, 5 << 20],
      [2, 1000],
    ] as const) {
      const part = { Bucket, Key: "parts", UploadId, PartNumber, Body: randomBytes(size) };
      Parts.push({ PartNumber, ETag: (await from.send(new s3.UploadPartCommand(part))).ETag });
    }
    await from.send(
      new s3.CompleteMultipartUploadCommand({ Bucket, Key: "parts", UploadId, MultipartUpload: { Parts } }),
    );
    const TagSet = [{ Key: "team", Value: "blue" }];
    await from.send(new s3.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));

    const first = migrate(source.url);
    await waitUntil("a part of it is there", async () => {
      const there = await count(to, Bucket).catch(() => 0);
      return there >= 10 || undefined;
    });
    process.kill(-(first.child.pid ?? 0), "SIGKILL");
    await first.ended;
    const before = await count(to, Bucket);
    assert.ok(before < KEYS, `${before} versions were there when it was killed`);

    const second = await migrate(source.url).ended;
    assert.equal(second.status, 0, second.output);
    const [, copied, there] = /moving: (\d+) versions copied, (\d+) were there, 0 problems/.exec(second.output) ?? [];
    assert.equal(Number(copied) + Number(there), KEYS + 3, second.output);
    assert.ok(Number(there) >= 10, second.output);
    assert.deepEqual(await readAll(to, Bucket), await readAll(from, Bucket));
    assert.deepEqual((await to.send(new s3.GetBucketTaggingCommand({ Bucket }))).TagSet, TagSet);
    const third = await migrate(source.url).ended;
    assert.match(third.output, new RegExp(`moving: 0 versions copied, ${KEYS + 3} were there, 0 problems`));
  } finally {
    from.destroy();
    await source.stop();
  }
});

/** `swath objstore migrate` in a process group of its own. */
function migrate(from: string) {
  const running = spawn(swath, ["objstore", "migrate", "--from", from, "--to", url, "--bucket", "moving"], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      SOURCE_ACCESS_KEY: ROOT.accessKeyId,
      SOURCE_SECRET_KEY: ROOT.secretAccessKey,
      TARGET_ACCESS_KEY: admin.user,
      TARGET_SECRET_KEY: admin.password,
    },
  });
  let output = "";
  for (const stream of [running.stdout, running.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = once(running, "close").then(([status]) => ({ status: status as number | null, output }));
  return { child: running, ended };
}

async function listVersions(client: s3.S3Client, Bucket: string) {
  const found: { Key: string; VersionId: string | undefined; IsLatest: boolean; isMarker: boolean }[] = [];
  for (let KeyMarker: string | undefined, VersionIdMarker: string | undefined; ;) {
    const page = await client.send(new s3.ListObjectVersionsCommand({ Bucket, KeyMarker, VersionIdMarker }));
    for (const { Key = "", VersionId, IsLatest = false } of page.Versions ?? []) {
      found.push({ Key, VersionId, IsLatest, isMarker: false });
    }
    for (const { Key = "", VersionId, IsLatest = false } of page.DeleteMarkers ?? []) {
      found.push({ Key, VersionId, IsLatest, isMarker: true });
    }
    if (page.IsTruncated !== true) {
      return found;
    }
    ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page);
  }
}

async function count(client: s3.S3Client, Bucket: string): Promise<number> {
  return (await listVersions(client, Bucket)).length;
}

/** Every version, by key, whether it is the newest, and the digest of its bytes. */
async function readAll(client: s3.S3Client, Bucket: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { Key, VersionId, IsLatest, isMarker } of await listVersions(client, Bucket)) {
    let content = "deleted";
    if (!isMarker) {
      const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key, VersionId }));
      content = createHash("sha256")
        .update((await Body?.transformToByteArray()) ?? "")
        .digest("hex");
    }
    lines.push(`${Key} ${IsLatest ? "newest" : "older"} ${content}`);
  }
  return lines.toSorted();
}
