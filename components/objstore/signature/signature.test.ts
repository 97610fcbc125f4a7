import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";

import { S3Error } from "../errors.ts";
import { authenticate as authenticateRequest } from "./authenticate.ts";
import type { AuthenticateDeps, Credential, SignedRequest } from "./credential.ts";
import { decodeChunks } from "./chunked-body.ts";
import { SigningKeys, deriveSigningKey, equalsSafely, hmac, toHmacKey } from "./signing-key.ts";

// The examples of "Signature Calculations for the Authorization Header", "Authenticating Requests: Using Query Parameters"
// and "Transferring Payload in Multiple Chunks" of the Amazon S3 API reference.
const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const SCOPE = { accessKey: "AKIAIOSFODNN7EXAMPLE", day: "20130524", region: "us-east-1", service: "s3" };
const TIME = Date.parse("2013-05-24T00:00:00Z");
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function deps(changes: Partial<Credential & { now: number }> = {}): AuthenticateDeps<Credential> {
  return {
    findCredential: (id) =>
      id === SCOPE.accessKey ? { secret: SECRET, token: null, expires: null, ...changes } : undefined,
    keys: new SigningKeys(),
    region: "us-east-1",
    now: () => changes.now ?? TIME,
  };
}

const authenticate = (request: Omit<SignedRequest, "parameters">, from: AuthenticateDeps<Credential>) =>
  authenticateRequest({ ...request, parameters: new Map(request.query) }, from);

function signed(headers: IncomingHttpHeaders, signature: string): IncomingHttpHeaders {
  const all: IncomingHttpHeaders = {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-date": "20130524T000000Z",
    ...headers,
  };
  const names = Object.keys(all).sort().join(";");
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
  };
}

const hasCode = (code: string) => (error: unknown) => error instanceof S3Error && error.code === code;

test("AWS example: GET object with a range", () => {
  const headers = signed(
    { range: "bytes=0-9", "x-amz-content-sha256": EMPTY },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  const request = { method: "GET", path: "/test.txt", query: [], headers };
  assert.equal(authenticate(request, deps())?.accessKey, SCOPE.accessKey);
  assert.throws(() => authenticate({ ...request, path: "/other.txt" }, deps()), hasCode("SignatureDoesNotMatch"));
  assert.throws(() => authenticate({ ...request, method: "DELETE" }, deps()), hasCode("SignatureDoesNotMatch"));
  assert.throws(() => authenticate(request, deps({ now: TIME + 901_000 })), hasCode("RequestTimeTooSkewed"));
  assert.throws(() => authenticate(request, deps({ now: TIME - 901_000 })), hasCode("RequestTimeTooSkewed"));
  assert.throws(() => authenticate(request, deps({ token: "t" })), hasCode("InvalidToken"));
  assert.throws(() => authenticate(request, deps({ expires: TIME })), hasCode("ExpiredToken"));
});

test("AWS example: PUT object", () => {
  const headers = signed(
    {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
  const result = authenticate({ method: "PUT", path: "/test$file.text", query: [], headers }, deps());
  assert.equal(result?.payload.kind, "hashed");
});

test("AWS example: GET bucket lifecycle and GET bucket", () => {
  const lifecycle = signed(
    { "x-amz-content-sha256": EMPTY },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
  assert.ok(authenticate({ method: "GET", path: "/", query: [["lifecycle", ""]], headers: lifecycle }, deps()));
  const list = signed(
    { "x-amz-content-sha256": EMPTY },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
  const query = [
    ["prefix", "J"],
    ["max-keys", "2"],
  ] as const;
  assert.ok(authenticate({ method: "GET", path: "/", query, headers: list }, deps()));
});

test("a signature that is not the last parameter counts as well", () => {
  const credential = `${SCOPE.accessKey}/20130524/us-east-1/s3/aws4_request`;
  const others = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(credential)}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host`;
  const signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
  const headers = { host: "examplebucket.s3.amazonaws.com" };
  for (const query of [`${others}&X-Amz-Signature=${signature}`, `X-Amz-Signature=${signature}&${others}`]) {
    const pairs = [...new URLSearchParams(query)] as [string, string][];
    const raw = { path: "/test.txt", query };
    assert.ok(authenticate({ method: "GET", path: "/test.txt", query: pairs, headers, raw }, deps()), query);
    const twice = { path: "/test.txt", query: `${query}&X-Amz-Signature=${signature}` };
    assert.ok(authenticate({ method: "GET", path: "/test.txt", query: pairs, headers, raw: twice }, deps()));
  }
});

test("texts are compared whole, whatever characters they are of", () => {
  const hex = "0123456789abcdef".repeat(4);
  assert.ok(equalsSafely(hex, hex) && equalsSafely("", "") && equalsSafely("süß", "süß"));
  for (const other of [hex.slice(1), `${hex.slice(1)}0`, `${hex}0`, `\u0130${hex.slice(1)}`, `\u0131${hex.slice(1)}`]) {
    assert.ok(!equalsSafely(hex, other) && !equalsSafely(other, hex), other);
  }
});

test("AWS example: presigned URL", () => {
  const query = [
    ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
    ["X-Amz-Credential", "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"],
    ["X-Amz-Date", "20130524T000000Z"],
    ["X-Amz-Expires", "86400"],
    ["X-Amz-SignedHeaders", "host"],
    ["X-Amz-Signature", "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"],
  ] as const;
  const request = { method: "GET", path: "/test.txt", query, headers: { host: "examplebucket.s3.amazonaws.com" } };
  assert.equal(authenticate(request, deps())?.authType, "REST-QUERY-STRING");
  assert.ok(authenticate(request, deps({ now: TIME + 86_400_000 })));
  assert.throws(() => authenticate(request, deps({ now: TIME + 86_401_000 })), hasCode("AccessDenied"));
  const added = { ...request, headers: { ...request.headers, "x-amz-acl": "public-read" } };
  assert.throws(() => authenticate(added, deps()), hasCode("AccessDenied"));
});

async function* cut(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) {
    all.push(chunk);
  }
  return Buffer.concat(all);
}

const signing = (seed: string) => ({
  key: deriveSigningKey(SECRET, SCOPE),
  time: "20130524T000000Z",
  scope: "20130524/us-east-1/s3/aws4_request",
  seed,
});

test("AWS example: signed chunks", async () => {
  const body = (first: string) =>
    `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${first.repeat(65536)}\r\n` +
    `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${"a".repeat(1024)}\r\n` +
    `0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n`;
  const options = {
    trailer: false,
    signing: signing("4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"),
  };
  for (const size of [7, 1000, 100_000]) {
    const { chunks } = decodeChunks(cut(body("a"), size), options);
    assert.equal((await collect(chunks)).length, 66560);
  }
  await assert.rejects(collect(decodeChunks(cut(body("b"), 9000), options).chunks), hasCode("SignatureDoesNotMatch"));
  await assert.rejects(
    collect(decodeChunks(cut(body("a").slice(0, 60_000), 9000), options).chunks),
    hasCode("IncompleteBody"),
  );
});

test("AWS example: signed chunks with a signed trailer", async () => {
  const body = (checksum: string) =>
    `10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n${"a".repeat(65536)}\r\n` +
    `400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n${"a".repeat(1024)}\r\n` +
    `0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n` +
    `x-amz-checksum-crc32c:${checksum}\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n`;
  const options = {
    trailer: true,
    signing: signing("106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"),
  };
  const { chunks, trailers } = decodeChunks(cut(body("sOO8/Q=="), 5000), options);
  assert.equal((await collect(chunks)).length, 66560);
  assert.equal(trailers.get("x-amz-checksum-crc32c"), "sOO8/Q==");
  await assert.rejects(
    collect(decodeChunks(cut(body("AAAAAA=="), 5000), options).chunks),
    hasCode("SignatureDoesNotMatch"),
  );
});

test("an unsigned chunked body with a trailer, and malformed ones", async () => {
  const { chunks, trailers } = decodeChunks(cut("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n", 4), {
    trailer: true,
  });
  assert.equal((await collect(chunks)).toString(), "abc");
  assert.equal(trailers.get("x-amz-checksum-crc32"), "NSRBwg==");
  for (const body of ["zz\r\nabc\r\n", "3\r\nabcd\r\n0\r\n\r\n", `${"1".repeat(9000)}`]) {
    await assert.rejects(collect(decodeChunks(cut(body, 4), { trailer: true }).chunks), hasCode("InvalidRequest"));
  }
});

test("RFC 2104: HMAC of keys shorter and longer than a block", () => {
  for (const size of [0, 1, 32, 63, 64, 65, 200]) {
    const key = randomBytes(size);
    assert.deepEqual(hmac(toHmacKey(key), "text ä"), createHmac("sha256", key).update("text ä").digest());
  }
});
