import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { CreateBucketCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";

import { presign } from "../admin/presign.ts";
import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let s3: S3Client;
before(async () => {
  store = await startObjstore();
  s3 = createS3Client(store);
  await s3.send(new CreateBucketCommand({ Bucket: "pages" }));
});
after(async () => {
  s3.destroy();
  await store.stop();
});

async function policyOf(type: string, response?: string) {
  await s3.send(new PutObjectCommand({ Bucket: "pages", Key: "x", Body: "<p>hello", ContentType: type }));
  const url = await presign({
    publicUrl: store.url,
    region: "us-east-1",
    credential: { id: ROOT.accessKeyId, secret: ROOT.secretAccessKey, token: null },
    method: "GET",
    bucket: "pages",
    key: "x",
    seconds: 60,
    ...(response && { query: { "response-content-type": response } }),
    now: Date.now(),
  });
  const reply = await fetch(url);
  assert.equal(await reply.text(), "<p>hello");
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
  if (type !== "") {
    assert.equal(reply.headers.get("content-type"), response ?? type);
  }
  return reply.headers.get("content-security-policy");
}

test("objects of types that are not known to be harmless are pages of an origin of their own", async () => {
  for (const type of [
    "text/html",
    "Text/HTML; charset=utf-8",
    "application/xhtml+xml",
    "image/svg+xml",
    "text/xml",
    "*/*",
    "text/xsl",
    "text/x-unheard-of",
  ]) {
    const policy = await policyOf(type);
    assert.match(policy ?? "", /^sandbox /, type);
    assert.doesNotMatch(policy ?? "", /allow-same-origin/, type);
  }
  assert.match((await policyOf("text/plain", "text/html")) ?? "", /^sandbox /);
});

test("other objects come as S3 sends them", async () => {
  for (const type of ["image/tiff", "application/json", "binary/octet-stream", "text/plain"]) {
    assert.equal(await policyOf(type), null, type);
  }
});
