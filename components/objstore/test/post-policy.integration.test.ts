import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, type PostPolicy } from "minio";

import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: Client;

before(async () => {
  store = await startObjstore();
  const { hostname, port } = new URL(store.url);
  client = new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey: ROOT.accessKeyId,
    secretKey: ROOT.secretAccessKey,
    region: "us-east-1",
  });
  await client.makeBucket("forms");
});
after(() => store.stop());

/** Signs with the real client what `describe` allows, and sends a form with `changes` to its fields. */
async function post(
  describe: (policy: PostPolicy) => void,
  content: string | Uint8Array<ArrayBuffer>,
  changes: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const policy = client.newPostPolicy();
  policy.setBucket("forms");
  policy.setExpires(new Date(Date.now() + 60_000));
  describe(policy);
  const { postURL, formData } = await client.presignedPostPolicy(policy);
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...formData, ...changes })) {
    form.append(name, String(value));
  }
  form.append("file", new Blob([content]), "scene.tif");
  return fetch(postURL, { method: "POST", body: form, redirect: "manual" });
}

async function read(key: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await client.getObject("forms", key)) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

test("a signed form uploads small and large files, with type, metadata and 204", async () => {
  const response = await post((policy) => {
    policy.setKey("small.txt");
    policy.setContentType("text/plain");
    policy.setUserMetaData({ mission: "S2" });
    policy.setContentLengthRange(1, 100);
  }, "hello");
  assert.equal(response.status, 204, await response.text());
  assert.equal((await read("small.txt")).toString(), "hello");
  const { metaData } = await client.statObject("forms", "small.txt");
  assert.deepEqual([metaData["content-type"], metaData["mission"]], ["text/plain", "S2"]);
  const large = new Uint8Array(3 << 20).map((_, at) => at % 251);
  const second = await post((policy) => policy.setKeyStartsWith("scenes/"), large, { key: "scenes/${filename}" });
  assert.equal(second.status, 204, await second.text());
  assert.ok((await read("scenes/scene.tif")).equals(large));
});

test("success_action_status and success_action_redirect", async () => {
  const allow = (name: string, value: string) => (policy: PostPolicy) => {
    policy.setKey("done");
    policy.policy.conditions.push(["eq", `$${name}`, value]);
    policy.formData[name] = value;
  };
  const created = await post(allow("success_action_status", "201"), "x");
  assert.equal(created.status, 201);
  assert.match(await created.text(), /<PostResponse><Location>[^<]+\/forms\/done<\/Location><Bucket>forms<\/Bucket>/);
  const sent = await post(allow("success_action_redirect", "https://portal.example/done?a=1"), "x");
  assert.equal(sent.status, 303);
  const { searchParams } = new URL(sent.headers.get("location") ?? "");
  assert.deepEqual(
    [searchParams.get("a"), searchParams.get("bucket"), searchParams.get("key")],
    ["1", "forms", "done"],
  );
});

test("forms that do not fit their policy are refused and leave nothing", async () => {
  const refused = async (
    [status, pattern]: readonly [number, RegExp],
    describe: (policy: PostPolicy) => void,
    content = "x",
    changes: Readonly<Record<string, string>> = {},
  ) => {
    const response = await post(describe, content, changes);
    const text = await response.text();
    assert.equal(response.status, status, text);
    assert.match(text, pattern);
  };
  const key = (policy: PostPolicy) => policy.setKey("refused");
  await refused([403, /Policy Condition failed/], key, "x", { key: "other" });
  await refused([403, /Extra input fields: x-amz-meta-a/], key, "x", { "x-amz-meta-a": "1" });
  await refused([403, /SignatureDoesNotMatch/], key, "x", { "x-amz-signature": "0".repeat(64) });
  await refused([403, /InvalidAccessKeyId/], key, "x", {
    "x-amz-credential": "no/20260101/us-east-1/s3/aws4_request",
    "x-amz-date": "20260101T000000Z",
  });
  const range = (policy: PostPolicy) => {
    key(policy);
    policy.setContentLengthRange(2, 50_000);
  };
  await refused([400, /EntityTooSmall/], range, "x");
  await refused([400, /EntityTooLarge/], range, "x".repeat(60_000));
  await refused([403, /Policy expired/], (policy) => {
    key(policy);
    policy.setExpires(new Date(Date.now() - 1000));
  });
  await refused([400, /InvalidPolicyDocument/], (policy) => {
    key(policy);
    policy.policy.conditions.push(["almost", "$key", "x"]);
  });
  await assert.rejects(client.statObject("forms", "refused"));
  await assert.rejects(client.statObject("forms", "other"));
});

test("unsigned, empty and torn forms", async () => {
  const unsigned = new FormData();
  unsigned.append("key", "a");
  unsigned.append("file", new Blob(["x"]), "a");
  assert.equal((await fetch(`${store.url}/forms`, { method: "POST", body: unsigned })).status, 403);
  const empty = new FormData();
  empty.append("key", "a");
  const response = await fetch(`${store.url}/forms`, { method: "POST", body: empty });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /exactly one file/);
  assert.equal((await fetch(`${store.url}/forms`, { method: "POST", body: "x" })).status, 412);
  // With everybody allowed to write, a form needs no signature; one whose client vanishes is never seen.
  const everybody = { Effect: "Allow", Principal: "*", Action: "s3:PutObject", Resource: "arn:aws:s3:::forms/*" };
  await client.setBucketPolicy("forms", JSON.stringify({ Version: "2012-10-17", Statement: [everybody] }));
  assert.equal((await fetch(`${store.url}/forms`, { method: "POST", body: unsigned })).status, 204);
  const socket = connect(Number(new URL(store.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    "POST /forms HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" +
      '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\ntorn\r\n' +
      `--b\r\nContent-Disposition: form-data; name="file"; filename="t"\r\n\r\n${"x".repeat(200_000)}`,
    () => socket.destroy(),
  );
  await once(socket, "close");
  assert.equal((await fetch(`${store.url}/forms`, { method: "POST", body: unsigned })).status, 204);
  await assert.rejects(client.statObject("forms", "torn"));
});

test("forms torn at any moment, refused ones too, do not end the service", async () => {
  const tear = async (bucket: string, pause: number) => {
    const socket = connect(Number(new URL(store.url).port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(
      `POST /${bucket} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n` +
        '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\ntorn\r\n' +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="t"\r\n\r\nx',
    );
    await sleep(pause);
    socket.resetAndDestroy();
    await once(socket, "close");
  };
  await client.makeBucket("closed");
  for (let pause = 0; pause < 40; pause += 1) {
    await Promise.all([tear("forms", pause), tear("closed", pause), tear("forms", pause / 10)]);
  }
  assert.equal((await fetch(`${store.url}/closed`, { method: "POST", body: unsignedForm("a") })).status, 403);
  await assert.rejects(client.statObject("forms", "torn"));
});

function unsignedForm(key: string): FormData {
  const data = new FormData();
  data.append("key", key);
  data.append("file", new Blob(["x"]), "a");
  return data;
}
