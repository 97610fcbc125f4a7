import { createHash, hash } from "node:crypto";
import { crc32 } from "node:zlib";

import type { Digest, HashAlgorithm } from "@swath/stac";

/** A checksum of a whole file: of its metadata (a digest), or what its source says. */
export interface Checksum {
  readonly algorithm: HashAlgorithm | "crc32";
  readonly hex: string;
}

/** Computes a checksum of bytes that come piece by piece. */
export interface RunningChecksum {
  readonly update: (bytes: Uint8Array) => void;
  /** In hexadecimal. */
  readonly finish: () => string;
}

export function startChecksum(algorithm: Checksum["algorithm"]): RunningChecksum {
  if (algorithm === "crc32") {
    let value = 0;
    return {
      update: (bytes) => {
        value = crc32(bytes, value);
      },
      finish: () => toHex(value),
    };
  }
  const running = createHash(algorithm);
  return { update: (bytes) => void running.update(bytes), finish: () => running.digest("hex") };
}

/** The checksum of bytes that are all there. */
export const checksumOf = (algorithm: Checksum["algorithm"], bytes: Uint8Array): string =>
  algorithm === "crc32" ? toHex(crc32(bytes)) : hash(algorithm, bytes);

const toHex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");

export const isDigest = (checksum: Checksum): checksum is Digest => checksum.algorithm !== "crc32";

type Header = (name: string) => string | undefined;

/**
 * What an answer with a whole file says of its bytes: `Content-MD5`, or what an object store says.
 */
export function readChecksum(header: Header): Checksum | undefined {
  const md5 = header("content-md5");
  if (md5 !== undefined && header("content-range") === undefined) {
    const bytes = Buffer.from(md5, "base64");
    return bytes.length === 16 ? { algorithm: "md5", hex: bytes.toString("hex") } : undefined;
  }
  return header("x-amz-request-id") === undefined ? undefined : readObjectChecksum(header);
}

/**
 * What an object store says of an object: the CRC-32 of the whole that current clients send along, which costs a fraction of an MD5 to
 * check and which uploads in parts may have too; else the MD5 that the ETag is, unless it stands for several parts or for encrypted bytes.
 */
export function readObjectChecksum(header: Header): Checksum | undefined {
  // A checksum of the checksums of parts has the number of parts behind it, and is none of the file.
  const crc = /^[A-Za-z0-9+/]{6}==$/.exec(header("x-amz-checksum-crc32") ?? "")?.[0];
  if (crc !== undefined && header("content-range") === undefined && header("x-amz-checksum-type") !== "COMPOSITE") {
    return { algorithm: "crc32", hex: Buffer.from(crc, "base64").toString("hex") };
  }
  const encryption = header("x-amz-server-side-encryption");
  const isPlain =
    (encryption === undefined || encryption === "AES256") &&
    header("x-amz-server-side-encryption-customer-algorithm") === undefined;
  const etag = isPlain ? /^"?([0-9a-f]{32})"?$/i.exec(header("etag") ?? "")?.[1]?.toLowerCase() : undefined;
  return etag === undefined ? undefined : { algorithm: "md5", hex: etag };
}
