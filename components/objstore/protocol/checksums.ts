import { S3Error } from "../errors.ts";
import { type S3Request, header } from "./request.ts";
import type { ChecksumName, StoredChecksum } from "../store/rows.ts";

/** Bytes of each. */
const SIZES: Readonly<Record<ChecksumName, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha512: 64,
  xxhash64: 8,
  xxhash3: 8,
  xxhash128: 16,
};
const NAMES = Object.keys(SIZES) as ChecksumName[];

/** The additional checksum that an upload announces: its value in a header, or in the trailer, or only its algorithm. */
export interface DeclaredChecksum {
  readonly algorithm: ChecksumName;
  /** Base64; undefined when it comes in the trailer or is ours to compute. */
  readonly value: string | undefined;
}

/** Reads the checksum headers of an upload. @throws {S3Error} InvalidRequest, InvalidDigest */
export function readChecksum(request: S3Request): DeclaredChecksum | undefined {
  const provided = NAMES.flatMap((algorithm) => {
    const value = header(request, `x-amz-checksum-${algorithm}`);
    return value === undefined ? [] : [{ algorithm, value }];
  });
  if (provided.length > 1) {
    throw new S3Error(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
    );
  }
  const [checksum] = provided;
  if (checksum !== undefined) {
    if (Buffer.from(checksum.value, "base64").length !== SIZES[checksum.algorithm]) {
      throw new S3Error("BadDigest", `Value for x-amz-checksum-${checksum.algorithm} header is invalid.`);
    }
    return checksum;
  }
  const trailer = /^x-amz-checksum-(\w+)$/.exec(header(request, "x-amz-trailer")?.trim().toLowerCase() ?? "")?.[1];
  const name =
    trailer ?? header(request, "x-amz-sdk-checksum-algorithm") ?? header(request, "x-amz-checksum-algorithm");
  return name === undefined ? undefined : { algorithm: toChecksumName(name), value: undefined };
}

/** @throws {S3Error} InvalidRequest for an unknown algorithm */
export function toChecksumName(text: string): ChecksumName {
  const name = NAMES.find((each) => each === text.toLowerCase());
  if (name === undefined) {
    throw new S3Error(
      "InvalidRequest",
      `Checksum algorithm provided is unsupported; supported are ${NAMES.join(", ").toUpperCase()}.`,
    );
  }
  return name;
}

/** Content-MD5 as bytes. @throws {S3Error} InvalidDigest */
export function readContentMd5(request: S3Request): Buffer | undefined {
  const text = header(request, "content-md5");
  if (text === undefined) {
    return undefined;
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 16) {
    throw new S3Error("InvalidDigest", "The Content-MD5 you specified was invalid.");
  }
  return bytes;
}

/** Elements `ChecksumCRC32` and `ChecksumType` of answers. */
export function toChecksumElements(json: string | null): Readonly<Record<string, string>> {
  if (json === null) {
    return {};
  }
  const { algorithm, value, type } = JSON.parse(json) as StoredChecksum;
  return { [`Checksum${algorithm.toUpperCase()}`]: value, ChecksumType: type };
}

/** Headers `x-amz-checksum-…` of answers. */
export function toChecksumHeaders(json: string | null): Readonly<Record<string, string>> {
  if (json === null) {
    return {};
  }
  const { algorithm, value, type } = JSON.parse(json) as StoredChecksum;
  return { [`x-amz-checksum-${algorithm}`]: value, "x-amz-checksum-type": type };
}
