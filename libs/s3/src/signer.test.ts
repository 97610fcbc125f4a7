import assert from "node:assert/strict";
import { test } from "node:test";

import { toObjectUrl } from "./object-url.ts";
import { createS3Signer } from "./signer.ts";

// The examples of "Signature Calculations for the Authorization Header" and "Authenticating Requests: Using Query Parameters" of the
// Amazon S3 API reference.
const KEYS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const HOST = "https://examplebucket.s3.amazonaws.com";
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const at = new Date("2013-05-24T00:00:00Z");
const signer = createS3Signer(KEYS);

const signatureOf = (headers: Record<string, string>) => headers["authorization"]?.split("Signature=")[1];

test("AWS example: GET object with a range", async () => {
  const headers = await signer.sign({
    url: `${HOST}/test.txt`,
    headers: { range: "bytes=0-9" },
    bodySha256: EMPTY,
    at,
  });
  assert.deepEqual(headers, {
    range: "bytes=0-9",
    "x-amz-content-sha256": EMPTY,
    "x-amz-date": "20130524T000000Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  });
});

test("a character that may be encoded is signed as encoded, however the URL has it", async () => {
  const [plain, encoded] = await Promise.all(
    ["test$file.text?prefix=a/b", "test%24file.text?prefix=a%2Fb"].map((path) =>
      signer.sign({ url: `${HOST}/${path}`, at }),
    ),
  );
  assert.deepEqual(plain, encoded);
});

test("AWS example: GET bucket lifecycle and GET bucket", async () => {
  for (const query of ["lifecycle", "lifecycle="]) {
    assert.equal(
      signatureOf(await signer.sign({ url: `${HOST}?${query}`, bodySha256: EMPTY, at })),
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
  }
  assert.equal(
    signatureOf(await signer.sign({ url: `${HOST}/?prefix=J&max-keys=2`, bodySha256: EMPTY, at })),
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

test("AWS example: presigned URL", async () => {
  const url = new URL(await signer.presign({ url: `${HOST}/test.txt`, seconds: 86_400, at }));
  assert.equal(`${url.origin}${url.pathname}`, `${HOST}/test.txt`);
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request",
    "X-Amz-Date": "20130524T000000Z",
    "X-Amz-Expires": "86400",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Signature": "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  });
});

test("headers of a presigned request are signed, and are no parameters", async () => {
  const headers = { "x-amz-copy-source": "/b/k" };
  const { searchParams } = new URL(await signer.presign({ method: "PUT", url: `${HOST}/x`, headers, seconds: 60, at }));
  assert.equal(searchParams.get("X-Amz-SignedHeaders"), "host;x-amz-copy-source");
  assert.equal(searchParams.has("x-amz-copy-source"), false);
});

test("temporary credentials send their token", async () => {
  const temporary = createS3Signer({ ...KEYS, sessionToken: "token" });
  const headers = await temporary.sign({ url: `${HOST}/x`, at });
  assert.equal(headers["x-amz-security-token"], "token");
  assert.match(
    headers["authorization"] ?? "",
    /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/,
  );
  const url = new URL(await temporary.presign({ url: `${HOST}/x`, seconds: 60, at }));
  assert.equal(url.searchParams.get("X-Amz-Security-Token"), "token");
});

test("headers that proxies change are sent and not signed", async () => {
  const headers = await signer.sign({ url: `${HOST}/x`, headers: { "accept-encoding": "identity" }, at });
  assert.equal(headers["accept-encoding"], "identity");
  assert.doesNotMatch(headers["authorization"] ?? "", /accept-encoding/);
});

test("URLs keep every character of a key, and the path of an endpoint", () => {
  assert.equal(
    toObjectUrl({
      endpoint: "http://h/s3/",
      bucket: "b",
      key: "a/../it's (1)+ü*!.tif",
      query: { "list-type": "2", prefix: "a b" },
    }),
    "http://h/s3/b/a/../it%27s%20%281%29%2B%C3%BC%2A%21.tif?list-type=2&prefix=a%20b",
  );
  assert.equal(toObjectUrl({ endpoint: "http://h", bucket: "b" }), "http://h/b");
  assert.equal(toObjectUrl({ endpoint: "http://h", bucket: "b", key: "" }), "http://h/b/");
});

test("segments of dots stay in a presigned URL", async () => {
  const url = toObjectUrl({ endpoint: "http://h:9000", bucket: "b", key: "a/../c" });
  assert.ok((await signer.presign({ url, seconds: 60 })).startsWith("http://h:9000/b/a/../c?"));
});
