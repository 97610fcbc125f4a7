import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { findFreePort } from "@swath/testing";

import {
  type IngressProcess,
  configOf,
  makeFolder,
  routeTo,
  startIngress,
  writeConfig,
} from "../../../cli/targets/embedded/ingress/test/harness.ts";
import { presign } from "../admin/presign.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

const HOST = "objstore.swath.test";
const Bucket = "virtual.host-bucket";
const folder = makeFolder();
let port: number;
let store: Awaited<ReturnType<typeof startObjstore>>;
let ingress: IngressProcess;
let client: s3.S3Client;

before(async () => {
  port = await findFreePort();
  store = await startObjstore({ PUBLIC_URL: `http://${HOST}:${port}` });
  const upstream = { host: "127.0.0.1", port: Number(new URL(store.url).port) };
  const file = join(folder.path, "ingress.json");
  writeConfig(file, configOf(port, [routeTo(HOST, null, { upstream, wildcard: true })]));
  ingress = await startIngress(file);
  client = new s3.S3Client({
    endpoint: `http://${HOST}:${port}`,
    region: "us-east-1",
    credentials: ROOT,
    requestHandler: { httpAgent: agent },
  });
});
after(async () => {
  client.destroy();
  agent.destroy();
  await ingress.stop();
  await store.stop();
  folder.close();
});

/** Finds every name on this machine, as the DNS of a deployment would. */
const agent = new Agent({
  keepAlive: true,
  lookup: (_, { all }, callback) =>
    all === true ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4),
});

/** Status and body of a request for a host, as a browser sends it. */
function send(method: string, host: string, path: string, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, method, path, headers: { host: `${host}:${port}` } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      },
    );
    sent.on("error", reject).end(body);
  });
}

test("buckets are host names: every kind of request of the SDK, through the ingress", async () => {
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  const hosts: (string | undefined)[] = [];
  client.middlewareStack.add(
    (next) => (args) => {
      hosts.push((args.request as { hostname?: string }).hostname);
      return next(args);
    },
    { step: "finalizeRequest", priority: "low" },
  );
  const keys = ["a", "deep/b c+ü%.txt", "../up", "//", "?q#f", `${Bucket}/a`];
  for (const Key of keys) {
    await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: Key }));
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
    assert.equal(await Body?.transformToString(), Key);
  }
  assert.ok(
    hosts.every((host) => host === `${Bucket}.${HOST}`),
    `virtual hosts, not ${hosts.join(" ")}`,
  );
  const { Contents } = await client.send(new s3.ListObjectsV2Command({ Bucket }));
  assert.equal(Contents?.length, keys.length);
  const bytes = randomBytes(11 << 20);
  await new Upload({ client, params: { Bucket, Key: "large", Body: bytes }, partSize: 5 << 20 }).done();
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: "large", Range: "bytes=5242000-5243999" }));
  assert.deepEqual(Buffer.from((await Body?.transformToByteArray()) ?? []), bytes.subarray(5_242_000, 5_244_000));
  await client.send(new s3.CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/large` }));
  assert.equal((await client.send(new s3.HeadObjectCommand({ Bucket, Key: "copy" }))).ContentLength, 11 << 20);
  await assert.rejects(client.send(new s3.HeadBucketCommand({ Bucket: "absent-bucket" })), { name: "NotFound" });
});

test("the public address of the service itself stays path style, and both name the same object", async () => {
  const publicUrl = `http://${HOST}:${port}`;
  const sign = async (method: "GET" | "PUT") => {
    const url = await presign({
      publicUrl,
      region: "us-east-1",
      credential: { id: ROOT.accessKeyId, secret: ROOT.secretAccessKey, token: null },
      method,
      bucket: Bucket,
      key: "by-path",
      seconds: 60,
      now: Date.now(),
    });
    return url.slice(publicUrl.length);
  };
  assert.equal((await send("PUT", HOST, await sign("PUT"), "by path")).status, 200);
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: "by-path" }));
  assert.equal(await Body?.transformToString(), "by path");
  assert.equal((await send("GET", HOST, await sign("GET"))).text, "by path");
  assert.equal(
    (await send("GET", `${Bucket}.${HOST}`, await sign("GET"))).status,
    403,
    "a signature holds for its host",
  );
  assert.equal((await send("GET", `${Bucket}.${HOST}`, "/by-path")).status, 403);
  assert.match((await send("GET", `UPPER_case.${HOST}`, "/x")).text, /<Code>(NoSuchBucket|AccessDenied)</);
});
