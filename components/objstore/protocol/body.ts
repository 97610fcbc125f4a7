import { hash, timingSafeEqual } from "node:crypto";

import { S3Error } from "../errors.ts";
import { type ChunkedBody, decodeChunks } from "../signature/chunked-body.ts";
import type { ContentFiles, WrittenFile } from "../store/content-files.ts";
import { type DigestName, createDigests } from "../store/digests.ts";
import type { StoredChecksum } from "../store/rows.ts";
import { readChecksum, readContentMd5 } from "./checksums.ts";
import { type S3Request, header } from "./request.ts";

/** Objects up to this size live in the index: one fsync shared by many, instead of two of their own. */
export const INLINE_BYTES = 32 << 10;
const MAXIMUM_BYTES = 5 * 2 ** 30;

/** A body received and verified: small in memory, or in a content file that is on the disk. */
export type ReceivedBody = {
  readonly size: number;
  readonly md5: string;
  readonly checksum: StoredChecksum | undefined;
} & ({ readonly data: Buffer } | { readonly file: WrittenFile; readonly settle: () => void });

interface ReceiveOptions {
  readonly files: ContentFiles;
  /** Called with the size before anything is written; throws to refuse (quota, disk). */
  readonly checkRoom: (bytes: number) => void;
  /** Parts of uploads are always files. */
  readonly neverInline?: boolean;
}

/** Decoded length of a body as the client announced it. @throws {S3Error} MissingContentLength, EntityTooLarge */
export function readDecodedLength(request: S3Request): number {
  const name = request.payload.kind === "chunked" ? "x-amz-decoded-content-length" : "content-length";
  const text = header(request, name) ?? (name === "content-length" ? undefined : header(request, "content-length"));
  if (text === undefined) {
    throw new S3Error("MissingContentLength");
  }
  if (!/^\d{1,19}$/.test(text)) {
    throw new S3Error("InvalidArgument", `${name} must be a whole number.`);
  }
  if (Number(text) > MAXIMUM_BYTES) {
    throw new S3Error("EntityTooLarge", undefined, { details: { ProposedSize: text, MaxSizeAllowed: MAXIMUM_BYTES } });
  }
  return Number(text);
}

/** The body's own bytes, without aws-chunked framing. */
export function openBody(request: S3Request): ChunkedBody {
  request.acceptBody();
  return request.payload.kind === "chunked"
    ? decodeChunks(request.message, request.payload)
    : { chunks: request.message, trailers: new Map() };
}

/** Receives the body of an upload, verifies every digest the client gave, and leaves it where it can be committed. */
export async function receiveBody(request: S3Request, options: ReceiveOptions): Promise<ReceivedBody> {
  const length = readDecodedLength(request);
  options.checkRoom(length);
  const checkSize = (size: number, whole: boolean) => {
    if (size > length) {
      throw new S3Error("IncompleteBody", `The body is longer than the ${length} bytes announced.`);
    }
    if (whole && size !== length) {
      throw new S3Error("IncompleteBody");
    }
  };
  const inline = length <= INLINE_BYTES && options.neverInline !== true;
  return receiveChunks(request, { files: options.files, inline, checkSize, open: () => openBody(request) });
}

interface ChunkOptions {
  readonly files: ContentFiles;
  readonly inline: boolean;
  /** Called as bytes arrive and once with all of them; throws to refuse. */
  readonly checkSize: (size: number, whole: boolean) => void;
  readonly open: () => ChunkedBody;
}

/** Receives bytes whose number is not known before, verifies the digests that the request's headers give, and keeps them. */
export async function receiveChunks(
  request: S3Request,
  { files, inline, checkSize, open }: ChunkOptions,
): Promise<ReceivedBody> {
  const announced = readChecksum(request);
  const contentMd5 = readContentMd5(request);
  const { payload } = request;
  const digests: DigestName[] = ["md5"];
  if (announced !== undefined) {
    digests.push(announced.algorithm);
  }
  if (payload.kind === "hashed") {
    digests.push("sha256");
  }
  const { chunks, trailers } = open();
  const writer = inline ? undefined : await files.create(digests);
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const chunk of chunks) {
      size += chunk.length;
      checkSize(size, false);
      if (writer === undefined) {
        pieces.push(chunk);
      } else {
        await writer.write(chunk);
      }
    }
    checkSize(size, true);
    const data =
      writer === undefined ? (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)) : undefined;
    const file = await writer?.finish();
    const found = file?.digests ?? (await digestBuffer(data ?? Buffer.alloc(0), digests));
    if (payload.kind === "hashed" && Buffer.from(found.sha256 ?? []).toString("hex") !== payload.sha256) {
      throw new S3Error("XAmzContentSHA256Mismatch");
    }
    if (contentMd5 !== undefined && !timingSafeEqual(contentMd5, found.md5 ?? new Uint8Array(16))) {
      throw new S3Error("BadDigest", "The Content-MD5 you specified did not match what we received.");
    }
    let checksum: StoredChecksum | undefined;
    if (announced !== undefined) {
      const value = Buffer.from(found[announced.algorithm] ?? []).toString("base64");
      const expected = announced.value ?? trailers.get(`x-amz-checksum-${announced.algorithm}`);
      if (expected !== undefined && expected !== value) {
        throw new S3Error(
          "BadDigest",
          `The ${announced.algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
        );
      }
      checksum = { algorithm: announced.algorithm, value, type: "FULL_OBJECT" };
    }
    const common = { size, md5: Buffer.from(found.md5 ?? []).toString("hex"), checksum };
    return file === undefined || writer === undefined
      ? { ...common, data: data ?? Buffer.alloc(0) }
      : { ...common, file, settle: writer.settle };
  } catch (error) {
    await writer?.discard();
    writer?.settle();
    throw error instanceof S3Error || !isAborted(error)
      ? error
      : new S3Error("IncompleteBody", undefined, { cause: error });
  }
}

/** Reads a small document. @throws {S3Error} MaxMessageLengthExceeded, BadDigest */
export async function readDocument(request: S3Request, limit: number): Promise<Buffer> {
  const contentMd5 = readContentMd5(request);
  const announced = readChecksum(request);
  const { chunks, trailers } = openBody(request);
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) {
      throw new S3Error("MaxMessageLengthExceeded", undefined, { details: { MaxMessageLengthBytes: limit } });
    }
    pieces.push(chunk);
  }
  const body = Buffer.concat(pieces);
  if (request.payload.kind === "hashed" && hash("sha256", body) !== request.payload.sha256) {
    throw new S3Error("XAmzContentSHA256Mismatch");
  }
  if (contentMd5 !== undefined && hash("md5", body) !== contentMd5.toString("hex")) {
    throw new S3Error("BadDigest");
  }
  if (announced !== undefined) {
    const found = (await digestBuffer(body, [announced.algorithm]))[announced.algorithm];
    const expected = announced.value ?? trailers.get(`x-amz-checksum-${announced.algorithm}`);
    if (expected !== undefined && Buffer.from(found ?? []).toString("base64") !== expected) {
      throw new S3Error("BadDigest");
    }
  }
  return body;
}

async function digestBuffer(data: Buffer, names: readonly DigestName[]) {
  const digests = createDigests(names);
  digests.update(data);
  return digests.finish();
}

function isAborted(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ECONNRESET" || error.code === "ERR_STREAM_PREMATURE_CLOSE")
  );
}
