import assert from "node:assert/strict";
import { test } from "node:test";

import { checksumOf, readChecksum, readObjectChecksum, startChecksum } from "./checksums.ts";

const MD5 = "9e107d9d372bb6826bd81d3542a419d6";
const TEXT = "The quick brown fox jumps over the lazy dog";
const of = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name];

test("checksums are the same whether the bytes come at once or piece by piece", () => {
  for (const [algorithm, hex] of [
    ["crc32", "414fa339"],
    ["md5", MD5],
    ["sha1", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"],
  ] as const) {
    const running = startChecksum(algorithm);
    running.update(Buffer.from(TEXT.slice(0, 7)));
    running.update(Buffer.from(TEXT.slice(7)));
    assert.equal(running.finish(), hex);
    assert.equal(checksumOf(algorithm, Buffer.from(TEXT)), hex);
  }
});

test("of an object the CRC-32 of the whole is taken, else the MD5 that its ETag is", () => {
  const etag = `"${MD5.toUpperCase()}"`;
  const md5 = { algorithm: "md5", hex: MD5 };
  const crc = { algorithm: "crc32", hex: "414fa339" };
  for (const [headers, expected] of [
    [{ etag, "x-amz-checksum-crc32": "QU+jOQ==", "x-amz-checksum-type": "FULL_OBJECT" }, crc],
    [{ etag: `"${MD5}-3"`, "x-amz-checksum-crc32": "QU+jOQ==" }, crc],
    // Checksums of the checksums of parts.
    [{ etag: `"${MD5}-3"`, "x-amz-checksum-crc32": "QU+jOQ==-3" }, undefined],
    [{ etag: `"${MD5}-3"`, "x-amz-checksum-crc32": "QU+jOQ==", "x-amz-checksum-type": "COMPOSITE" }, undefined],
    // A part of the object: what is said of the whole holds for the whole.
    [{ etag, "x-amz-checksum-crc32": "QU+jOQ==", "content-range": "bytes 1-9/10" }, md5],
    [{ etag, "x-amz-server-side-encryption": "AES256" }, md5],
    [{ etag, "x-amz-server-side-encryption": "aws:kms" }, undefined],
    [{ etag, "x-amz-server-side-encryption-customer-algorithm": "AES256" }, undefined],
    [{ etag: 'W/"1"' }, undefined],
    [{}, undefined],
  ] as const) {
    assert.deepEqual(readObjectChecksum(of(headers)), expected, JSON.stringify(headers));
  }
});

test("of other sources Content-MD5 is taken; an ETag means something with object stores alone", () => {
  const header = Buffer.from(MD5, "hex").toString("base64");
  assert.deepEqual(readChecksum(of({ "content-md5": header })), { algorithm: "md5", hex: MD5 });
  assert.equal(readChecksum(of({ "content-md5": "short" })), undefined);
  assert.equal(readChecksum(of({ etag: `"${MD5}"` })), undefined);
  assert.deepEqual(readChecksum(of({ etag: `"${MD5}"`, "x-amz-request-id": "1" })), { algorithm: "md5", hex: MD5 });
});
