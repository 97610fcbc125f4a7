import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";

import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

const Bucket = "watched";

interface EventRecord {
  readonly eventName: string;
  readonly userIdentity: { readonly principalId: string };
  readonly s3: {
    readonly configurationId: string;
    readonly bucket: { readonly name: string };
    readonly object: {
      readonly key: string;
      readonly size?: number;
      readonly eTag?: string;
      readonly sequencer: string;
    };
  };
}

let hook: Server;
let hookUrl: string;
/** What the webhook answers. */
let status = 200;
let bodies: { readonly text: string; readonly authorization: string | undefined }[] = [];
let volume: string;
let child: ChildProcess;
let client: s3.S3Client;
let start: () => Promise<void>;

before(async () => {
  hook = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      bodies.push({ text: status === 200 ? text : "", authorization: request.headers.authorization });
      response.writeHead(status).end();
    });
  });
  hook.listen(0, "127.0.0.1");
  await once(hook, "listening");
  hookUrl = `http://user:pass%20word@127.0.0.1:${(hook.address() as AddressInfo).port}/hook?a=b`;
  volume = await mkdtemp(join(tmpdir(), "objstore-events-"));
  const [port, consolePort] = await findFreePorts(2);
  const url = `http://127.0.0.1:${port}`;
  start = async () => {
    child = spawn(process.execPath, [programFile("objstore/main.ts")], {
      env: {
        PATH: process.env["PATH"],
        ...compiledCode,
        LOG_LEVEL: "fatal",
        DATA_DIR: volume,
        PUBLIC_URL: url,
        LISTEN: `127.0.0.1:${port}`,
        LISTEN_CONSOLE: `127.0.0.1:${consolePort}`,
        OBJSTORE_ROOT_USER: ROOT.accessKeyId,
        OBJSTORE_ROOT_PASSWORD: ROOT.secretAccessKey,
        OBJSTORE_RESERVED_MIB: "1",
        OBJSTORE_EVENT_TARGETS: `hook=${hookUrl}`,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await waitUntil("the store answers", async () => (await fetch(url).catch(() => undefined)) !== undefined);
  };
  await start();
  client = createS3Client({ url });
  await client.send(new s3.CreateBucketCommand({ Bucket }));
});
after(async () => {
  client.destroy();
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  hook.closeAllConnections();
  hook.close();
  await rm(volume, { recursive: true, force: true });
});

const configure = (...TopicConfigurations: readonly s3.TopicConfiguration[]) =>
  client.send(
    new s3.PutBucketNotificationConfigurationCommand({
      Bucket,
      NotificationConfiguration: { TopicConfigurations: [...TopicConfigurations] },
    }),
  );
const put = (Key: string, Body = "text") => client.send(new s3.PutObjectCommand({ Bucket, Key, Body }));
const records = () =>
  bodies
    .filter(({ text }) => text.includes('"Records"'))
    .flatMap(({ text }) => (JSON.parse(text) as { readonly Records: readonly EventRecord[] }).Records);
const delivered = (count: number) =>
  waitUntil(`${count} events came`, async () => (records().length >= count ? records() : undefined));

test("a configuration is checked, tried and given back", async () => {
  const TopicArn = "arn:aws:sns:us-east-1::hook";
  await assert.rejects(configure({ TopicArn: "arn:aws:sns:us-east-1::other", Events: ["s3:ObjectCreated:*"] }), {
    name: "InvalidArgument",
    message: /no webhook named other/,
  });
  await assert.rejects(configure({ TopicArn, Events: ["s3:Replication:*"] }), { name: "InvalidArgument" });
  await configure({
    Id: "made",
    TopicArn,
    Events: ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:ObjectTagging:Put"],
    Filter: {
      Key: {
        FilterRules: [
          { Name: "prefix", Value: "in/" },
          { Name: "suffix", Value: ".tif" },
        ],
      },
    },
  });
  await waitUntil("the test event came", async () => bodies.length > 0 || undefined);
  assert.match(bodies[0]?.text ?? "", /"Event":"s3:TestEvent".*"Bucket":"watched"/);
  assert.equal(bodies[0]?.authorization, `Basic ${Buffer.from("user:pass word").toString("base64")}`);
  const { TopicConfigurations } = await client.send(new s3.GetBucketNotificationConfigurationCommand({ Bucket }));
  assert.equal(TopicConfigurations?.[0]?.Id, "made");
});

test("what is made, copied, tagged and removed is told in order, in the form of S3; what no rule names is not", async () => {
  await put("in/a b.tif");
  await put("in/text.txt");
  await put("out/a.tif");
  await client.send(new s3.CopyObjectCommand({ Bucket, Key: "in/copy.tif", CopySource: `${Bucket}/in/a%20b.tif` }));
  const Tagging = { TagSet: [{ Key: "k", Value: "v" }] };
  await client.send(new s3.PutObjectTaggingCommand({ Bucket, Key: "in/copy.tif", Tagging }));
  const upload = { Bucket, Key: "in/parts.tif" };
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(upload));
  const { ETag } = await client.send(new s3.UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: "part" }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await client.send(new s3.CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: "in/copy.tif" }));
  await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "in/parts.tif" }] } }));
  const found = await delivered(6);
  assert.deepEqual(
    found.map(({ eventName, s3: { object } }) => [eventName, object.key]),
    [
      ["ObjectCreated:Put", "in/a+b.tif"],
      ["ObjectCreated:Copy", "in/copy.tif"],
      ["ObjectTagging:Put", "in/copy.tif"],
      ["ObjectCreated:CompleteMultipartUpload", "in/parts.tif"],
      ["ObjectRemoved:Delete", "in/copy.tif"],
      ["ObjectRemoved:Delete", "in/parts.tif"],
    ],
  );
  const [first] = found;
  assert.equal(first?.userIdentity.principalId, ROOT.accessKeyId);
  assert.deepEqual([first?.s3.configurationId, first?.s3.object.size], ["made", 4]);
  assert.ok((found[4]?.s3.object.sequencer ?? "") > (found[1]?.s3.object.sequencer ?? ""));
});

test("a webhook that fails is tried again, and what waits survives a kill: nothing acknowledged is untold", async () => {
  bodies = [];
  status = 503;
  const keys = Array.from({ length: 60 }, (_, n) => `in/kept-${n}.tif`);
  await Promise.all(keys.map((key) => put(key)));
  await waitUntil("it was tried", async () => bodies.length > 0 || undefined);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  bodies = [];
  status = 200;
  await start();
  const found = await delivered(keys.length);
  assert.deepEqual(new Set(found.map(({ s3: { object } }) => object.key)), new Set(keys));
});

test("without webhooks nothing can be asked for, and a damaged setting stops the start", async () => {
  const store = await startObjstore();
  const other = createS3Client(store);
  await other.send(new s3.CreateBucketCommand({ Bucket }));
  const rule = { TopicArn: "arn:aws:sns:::hook", Events: ["s3:ObjectCreated:Put" as const] };
  const response = { Bucket, NotificationConfiguration: { TopicConfigurations: [rule] } };
  await assert.rejects(other.send(new s3.PutBucketNotificationConfigurationCommand(response)), {
    name: "InvalidArgument",
  });
  other.destroy();
  await store.stop();
  await assert.rejects(startObjstore({ OBJSTORE_EVENT_TARGETS: "hook" }), /OBJSTORE_EVENT_TARGETS must be/);
});
