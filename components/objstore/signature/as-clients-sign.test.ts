import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { S3Error } from "../errors.ts";
import { authenticate, authenticateForm } from "./authenticate.ts";
import { toCanonicalRequest, toStringToSign } from "./canonical-request.ts";
import { decodeChunks } from "./chunked-body.ts";
import type { AuthenticateDeps, Credential } from "./credential.ts";
import { SigningKeys, hmacHex, toScope } from "./signing-key.ts";

const NOW = Date.UTC(2030, 0, 31, 12);
const TIME = "20300131T120000Z";
const SCOPE = { accessKey: "key", day: "20300131", region: "us-east-1", service: "s3" };
const deps: AuthenticateDeps<Credential> = {
  findCredential: (id) => (id === "key" ? { secret: "secret", token: null, expires: null } : undefined),
  keys: new SigningKeys(),
  region: "us-east-1",
  now: () => NOW,
};
const hasCode = (code: string) => (error: unknown) => error instanceof S3Error && error.code === code;

/** A request whose signature covers `signed`, while `headers` and `rawHeaders` are what Node.js read. */
function verify(
  signed: Readonly<Record<string, string>>,
  encoding: BufferEncoding,
  headers: Readonly<Record<string, string>>,
  rawHeaders: readonly string[],
) {
  const signedHeaders = Object.keys(signed).sort();
  const canonical = { method: "GET", path: "/b/k", query: [], signedHeaders, payloadHash: "UNSIGNED-PAYLOAD" };
  const text = Buffer.from(toCanonicalRequest({ ...canonical, headers: signed }), encoding);
  const scope = toScope(SCOPE);
  const signature = hmacHex(deps.keys.get("secret", SCOPE), toStringToSign(TIME, scope, text));
  const authorization = `AWS4-HMAC-SHA256 Credential=key/${scope},SignedHeaders=${signedHeaders.join(";")},Signature=${signature}`;
  const raw = { path: "/b/k", query: "" };
  const request = { method: "GET", path: "/b/k", query: [], parameters: new Map<string, string>(), raw, rawHeaders };
  return authenticate({ ...request, headers: { ...headers, authorization } }, deps);
}

const BASE = { host: "h", "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": TIME };
const toRaw = (headers: Readonly<Record<string, string>>) => Object.entries(headers).flat();

test("a header that was sent twice is signed as its lines, joined by a comma alone", () => {
  const signed = { ...BASE, "x-amz-object-attributes": "ETag,ObjectSize" };
  const headers = { ...BASE, "x-amz-object-attributes": "ETag, ObjectSize" };
  const raw = [...toRaw(BASE), "X-Amz-Object-Attributes", "ETag", "x-amz-object-attributes", " ObjectSize"];
  assert.ok(verify(signed, "utf8", headers, raw));
  const other = [...toRaw(BASE), "x-amz-object-attributes", "ETag", "x-amz-object-attributes", "Checksum"];
  assert.throws(
    () => verify(signed, "utf8", { ...headers, "x-amz-object-attributes": "ETag, Checksum" }, other),
    hasCode("SignatureDoesNotMatch"),
  );
});

test("metadata in raw UTF-8 counts, and so does Latin-1 that was signed as text", () => {
  const read = { ...BASE, "x-amz-meta-name": Buffer.from("größe").toString("latin1") };
  assert.ok(verify({ ...BASE, "x-amz-meta-name": "größe" }, "utf8", read, toRaw(read)));
  const latin1 = { ...BASE, "x-amz-meta-name": "größe" };
  assert.ok(verify(latin1, "utf8", latin1, toRaw(latin1)));
  assert.ok(verify(latin1, "latin1", latin1, toRaw(latin1)));
  const changed = { ...BASE, "x-amz-meta-name": "grösse" };
  assert.throws(() => verify(latin1, "utf8", changed, toRaw(changed)), hasCode("SignatureDoesNotMatch"));
});

function presigned(path: string, signedPath: string, expires: number) {
  const text = `GET\n\n\n${expires}\n${signedPath}`;
  const signature = createHmac("sha1", "secret").update(text).digest("base64");
  const query = [
    ["AWSAccessKeyId", "key"],
    ["Signature", signature],
    ["Expires", String(expires)],
  ] as const;
  const raw = { path, query: "" };
  return authenticate(
    { method: "GET", path, query, parameters: new Map<string, string>(query), headers: { host: "h" }, raw },
    deps,
  );
}

test("addresses presigned with version 2 count without any setting, for a week at most", () => {
  const soon = NOW / 1000 + 3600;
  assert.equal(presigned("/b/k", "/b/k", soon)?.accessKey, "key");
  assert.ok(presigned("/b", "/b/", soon), "a bucket is signed with a slash");
  assert.throws(() => presigned("/b/k", "/b/other", soon), hasCode("SignatureDoesNotMatch"));
  assert.throws(() => presigned("/b/k", "/b/k", NOW / 1000 - 1), hasCode("AccessDenied"));
  assert.throws(() => presigned("/b/k", "/b/k", NOW / 1000 + 8 * 86_400), hasCode("AccessDenied"));
});

test("forms signed with version 2 count without any setting; its header does not", () => {
  const policy = Buffer.from("{}").toString("base64");
  const signature = createHmac("sha1", "secret").update(policy).digest("base64");
  const form = new Map([
    ["policy", policy],
    ["awsaccesskeyid", "key"],
    ["signature", signature],
  ]);
  assert.ok(authenticateForm(form, deps));
  assert.throws(
    () => authenticateForm(new Map([...form, ["signature", "AAAA"]]), deps),
    hasCode("SignatureDoesNotMatch"),
  );
  const headers = { host: "h", date: new Date(NOW).toUTCString(), authorization: "AWS key:AAAA" };
  const request = { method: "GET", path: "/b/k", query: [], parameters: new Map<string, string>(), headers };
  assert.throws(() => authenticate(request, deps), hasCode("InvalidRequest"));
});

test("a trailing checksum that was announced has to come", async () => {
  const read = async (body: string, announced: string) => {
    const source = (async function* () {
      yield Buffer.from(body);
    })();
    const { chunks, trailers } = decodeChunks(source, { trailer: true, announced });
    let size = 0;
    for await (const chunk of chunks) {
      size += chunk.length;
    }
    return { size, trailer: trailers.get("x-amz-checksum-crc32") };
  };
  const whole = "3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n";
  assert.deepEqual(await read(whole, "x-amz-checksum-crc32"), { size: 3, trailer: "NSRBwg==" });
  await assert.rejects(read("3\r\nabc\r\n0\r\n\r\n", "X-Amz-Checksum-Crc32"), hasCode("MalformedTrailerError"));
  await assert.rejects(read("3\r\nabc\r\n0\r\n", "x-amz-checksum-crc32"), hasCode("MalformedTrailerError"));
});
