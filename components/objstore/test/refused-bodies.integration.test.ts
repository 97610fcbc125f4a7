import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;

before(async () => {
  // An issuer that never answers: it makes the store offer AssumeRoleWithWebIdentity.
  store = await startObjstore({ IDENTITY_ISSUER: "http://127.0.0.1:9/realms/none" });
  client = createS3Client(store, { maxAttempts: 1 });
});
after(async () => {
  client.destroy();
  await store.stop();
});

/** Sends bytes as they are and gives the response's head and body. */
async function sendRaw(head: readonly string[], body = ""): Promise<string> {
  const { hostname, port } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  let response = "";
  socket.on("data", (chunk: Buffer) => {
    response += chunk.toString("latin1");
    if (response.includes("</Error")) {
      socket.end();
    }
  });
  socket.on("error", () => {});
  socket.write([...head, `host: ${hostname}:${port}`, "connection: close", "", ""].join("\r\n"));
  socket.write(body);
  await once(socket, "close");
  return response;
}

const FORM = "content-type: application/x-www-form-urlencoded";
/** The first chunk of a body that is never ended: its message is not complete when the limit is passed. */
const chunked = (bytes: number) => `${bytes.toString(16)}\r\n${"a".repeat(bytes)}\r\n`;
const NOBODY =
  "authorization: AWS4-HMAC-SHA256 Credential=NOBODY/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=00";

for (const [title, head, body] of [
  ["a form of 1 MiB that says its length", [FORM, `content-length: ${1 << 20}`], "a".repeat(65 << 10)],
  ["a form of 65 KiB in chunks", [FORM, "transfer-encoding: chunked"], chunked(65 << 10)],
  ["a form of 3 MiB in chunks", [FORM, "transfer-encoding: chunked"], chunked(3 << 20)],
] as const) {
  test(`answers ${title} to POST / as too large, and goes on`, async () => {
    const response = await sendRaw(["POST / HTTP/1.1", ...head], body);
    assert.match(response, /^HTTP\/1\.1 400 [^]*<Code>MaxMessageLengthExceeded<\/Code>/);
    assert.match(await sendRaw(["GET / HTTP/1.1"]), /^HTTP\/1\.1 403 /);
  });
}

test("reads no body for an IAM request of an unknown access key", async () => {
  for (const [head, body] of [
    [[`content-length: ${300 << 10}`], "a".repeat(300 << 10)],
    [["transfer-encoding: chunked"], chunked(300 << 10)],
    // The client waits for leave to send, which does not come.
    [[`content-length: 10`, "expect: 100-continue"], ""],
  ] as const) {
    const response = await sendRaw(["POST / HTTP/1.1", NOBODY, ...head], body);
    assert.match(response, /^HTTP\/1\.1 403 [^]*<Code>InvalidClientTokenId<\/Code>/);
  }
});

test("answers an IAM request of a known key with too large a body, and goes on", async () => {
  const response = await sendRaw(
    ["POST / HTTP/1.1", NOBODY.replace("NOBODY", "root"), "transfer-encoding: chunked"],
    chunked(300 << 10),
  );
  assert.match(response, /^HTTP\/1\.1 400 [^]*<Code>MaxMessageLengthExceeded<\/Code>/);
});

test("answers a bucket policy of more than 20 KiB, and the connection goes on", async () => {
  const Bucket = "large-policy";
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [], Id: "a".repeat(1 << 20) });
  await assert.rejects(client.send(new s3.PutBucketPolicyCommand({ Bucket, Policy })), {
    name: "MaxMessageLengthExceeded",
  });
  await client.send(new s3.HeadBucketCommand({ Bucket }));
});

test("answers targets that are no path without a fault of its own", async () => {
  for (const [line, status] of [
    ["OPTIONS * HTTP/1.1", 400],
    ["GET * HTTP/1.1", 403],
    ["GET http:// HTTP/1.1", 400],
    ["GET http://[ HTTP/1.1", 400],
    ["GET ftp://host/ HTTP/1.1", 400],
    ["GET http://host/ HTTP/1.1", 403],
  ] as const) {
    assert.equal(Number((await sendRaw([line])).slice(9, 12)), status, line);
  }
});
