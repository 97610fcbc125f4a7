import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";
import { createS3Signer } from "@swath/s3";
import { breakDocument } from "@swath/xml/malformed";

import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

const store = await startObjstore();
const client = createS3Client(store, { maxAttempts: 1 });
after(async () => {
  client.destroy();
  await store.stop();
});

const Bucket = "malformed";
await client.send(new s3.CreateBucketCommand({ Bucket }));
const UploadId = (await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key: "parts" }))).UploadId ?? "";
const { ETag = "" } = await client.send(
  new s3.UploadPartCommand({ Bucket, Key: "parts", UploadId, PartNumber: 1, Body: "one" }),
);
await client.send(new s3.PutObjectCommand({ Bucket, Key: "kept", Body: "kept" }));

/** Characters that XML 1.0 forbids are taken as they are: SDKs send keys with them. */
const ALLOWED = "text is of characters";

const signer = createS3Signer({ ...ROOT, region: "us-east-1" });

async function sendDocument({ method, path, query }: Operation, document: string): Promise<Response> {
  const url = `${store.url}${path}?${new URLSearchParams(query).toString()}`;
  const headers = await signer.sign({
    method,
    url,
    headers: { "content-md5": createHash("md5").update(document).digest("base64") },
    bodySha256: createHash("sha256").update(document).digest("hex"),
  });
  return fetch(url, { method, headers, body: document });
}

interface Operation {
  readonly name: string;
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly document: string;
}

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const BUCKET = `/${Bucket}`;
const OBJECT = `${BUCKET}/kept`;
const operations: readonly Operation[] = [
  {
    name: "DeleteObjects",
    method: "POST",
    path: BUCKET,
    query: { delete: "" },
    document: `<Delete ${NAMESPACE}><Object><Key>other</Key></Object></Delete>`,
  },
  {
    name: "CompleteMultipartUpload",
    method: "POST",
    path: `${BUCKET}/parts`,
    query: { uploadId: UploadId },
    document: `<CompleteMultipartUpload ${NAMESPACE}><Part><PartNumber>1</PartNumber><ETag>${ETag}</ETag></Part></CompleteMultipartUpload>`,
  },
  {
    name: "PutBucketLifecycleConfiguration",
    method: "PUT",
    path: BUCKET,
    query: { lifecycle: "" },
    document: `<LifecycleConfiguration ${NAMESPACE}><Rule><ID>all</ID><Status>Enabled</Status><Filter><Prefix>a/</Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`,
  },
  {
    name: "PutBucketCors",
    method: "PUT",
    path: BUCKET,
    query: { cors: "" },
    document: `<CORSConfiguration ${NAMESPACE}><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>`,
  },
  {
    name: "PutBucketVersioning",
    method: "PUT",
    path: BUCKET,
    query: { versioning: "" },
    document: `<VersioningConfiguration ${NAMESPACE}><Status>Enabled</Status></VersioningConfiguration>`,
  },
  {
    name: "PutObjectTagging",
    method: "PUT",
    path: OBJECT,
    query: { tagging: "" },
    document: `<Tagging ${NAMESPACE}><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>`,
  },
];

for (const operation of operations) {
  test(`${operation.name} refuses every kind of document that is not well formed`, async () => {
    for (const { rule, text } of breakDocument(operation.document).filter((broken) => broken.rule !== ALLOWED)) {
      const response = await sendDocument(operation, text);
      const body = await response.text();
      assert.equal(response.status, 400, `${rule}: ${body}`);
      assert.match(body, /<Code>MalformedXML<\/Code>/, rule);
    }
    // The document itself is taken: the rules are what the others were refused for.
    const response = await sendDocument(operation, operation.document);
    assert.ok(response.ok, await response.text());
  });
}
