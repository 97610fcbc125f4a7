import { hash, timingSafeEqual } from "node:crypto";

import { S3Error } from "../errors.ts";
import { type ChunkedBody, decodeChunks } from "../signature/chunked-body.ts";
import { cryptSmall } from "../store/encryption/cipher.ts";
import type { ContentFiles, WrittenFile } from "../store/content/content-files.ts";
import type { ContentLabel } from "../store/content/content-trailer.ts";
import { type DigestName, digestAll } from "../store/digests/digests.ts";
import { type ChecksumName, DEFAULT_CHECKSUM, type StoredChecksum } from "../store/rows.ts";
import { type DeclaredChecksum, readChecksum, readContentMd5 } from "./checksums.ts";
import { detachableChunks, consumeBody } from "./chunks.ts";
import type { Encryption } from "./encryption.ts";
import { type S3Request, header } from "./request.ts";

/** Objects up to this size live in the index: one fsync shared by many, instead of two of their own. */
export const INLINE_BYTES = 32 << 10;
const MAXIMUM_BYTES = 5 * 2 ** 30;
/** Room that is asked for at a time for a body of unknown size. */
const ROOM_BYTES = 64 << 20;

/** A body received and verified: small in memory, or in a content file that is on the disk. */
export type ReceivedBody = {
  readonly size: number;
  readonly etag: string;
  /** What is kept with the object or part. */
  readonly checksum: StoredChecksum;
  /** What the client announced and the store compared, by whatever algorithm. */
  readonly verified: StoredChecksum | undefined;
} & ({ readonly data: Buffer; readonly md5: string } | { readonly file: WrittenFile; readonly settle: () => void });

interface ReceiveOptions {
  readonly files: ContentFiles;
  /** Called with the size before anything is written; throws to refuse (quota, disk). */
  readonly checkRoom: (bytes: number) => void;
  /** Parts of uploads are always files. */
  readonly neverInline?: boolean;
  /** What the file says of itself. */
  readonly label: () => ContentLabel;
  readonly encryption?: Encryption | undefined;
  /** Algorithm of the checksum to keep, whatever the client announces; left out: that one, or the default. */
  readonly algorithm?: ChecksumName | undefined;
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

/** The body's own bytes, without aws-chunked framing. Lent ones are to be used up before more are asked for. */
function openBody(request: S3Request, detachAfterUse: boolean): ChunkedBody {
  const { acceptBody, message, payload } = request;
  acceptBody();
  // Whoever gives up in the middle must not destroy the message: its socket carries the response.
  const lasting = () => message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  return payload.kind === "chunked"
    ? decodeChunks(detachAfterUse ? detachableChunks(lasting()) : lasting(), {
        ...payload,
        announced: header(request, "x-amz-trailer"),
      })
    : { chunks: message, trailers: new Map() };
}

/** Receives the body of an upload, verifies every digest the client gave, and leaves it where it can be committed. */
export async function receiveBody(request: S3Request, options: ReceiveOptions): Promise<ReceivedBody> {
  const isAnnounced = ["content-length", "x-amz-decoded-content-length"].some(
    (name) => header(request, name) !== undefined,
  );
  if (header(request, "transfer-encoding") !== undefined && !isAnnounced) {
    return receiveUnannounced(request, options);
  }
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
  const { files, label, encryption, algorithm } = options;
  return receiveChunks(request, {
    files,
    label,
    encryption,
    algorithm,
    inline,
    checkSize,
    open: () => openBody(request, !inline),
  });
}

/** A body whose size nobody said before: room is asked for as it comes. */
function receiveUnannounced(
  request: S3Request,
  { files, label, encryption, algorithm, checkRoom }: ReceiveOptions,
): Promise<ReceivedBody> {
  let room = 0;
  const checkSize = (size: number) => {
    if (size > MAXIMUM_BYTES) {
      throw new S3Error("EntityTooLarge");
    }
    if (size > room) {
      checkRoom(ROOM_BYTES);
      room += ROOM_BYTES;
    }
  };
  return receiveChunks(request, {
    files,
    label,
    encryption,
    algorithm,
    inline: false,
    checkSize,
    open: () => openBody(request, true),
  });
}

interface ChunkOptions {
  readonly files: ContentFiles;
  readonly label: () => ContentLabel;
  readonly encryption?: Encryption | undefined;
  readonly algorithm?: ChecksumName | undefined;
  readonly inline: boolean;
  /** Called as bytes arrive and once with all of them; throws to refuse. */
  readonly checkSize: (size: number, whole: boolean) => void;
  readonly open: () => ChunkedBody;
}

/** Receives bytes whose number is not known before, verifies the digests that the request's headers give, and keeps them. */
export async function receiveChunks(request: S3Request, options: ChunkOptions): Promise<ReceivedBody> {
  const announced = readChecksum(request);
  const algorithm = options.algorithm ?? announced?.algorithm ?? DEFAULT_CHECKSUM;
  const claims: Claims = { announced, contentMd5: readContentMd5(request), algorithm };
  try {
    return options.inline ? await receiveInline(request, options, claims) : await receiveFile(request, options, claims);
  } catch (error) {
    throw error instanceof S3Error || !isAborted(error)
      ? error
      : new S3Error("IncompleteBody", undefined, { cause: error });
  }
}

/** What the client said its bytes are, and by which algorithm a checksum of them is kept. */
interface Claims {
  readonly announced: DeclaredChecksum | undefined;
  readonly contentMd5: Buffer | undefined;
  readonly algorithm: ChecksumName;
}

async function receiveInline(request: S3Request, options: ChunkOptions, claims: Claims): Promise<ReceivedBody> {
  const { chunks, trailers } = options.open();
  const data = await collect(chunks, options.checkSize);
  const found = await digestAll(data, digestsFor(request, claims));
  const checksums = verify(request, claims, found, trailers);
  const md5 = toHex(found.md5);
  const { encryption } = options;
  const kept = encryption === undefined ? data : cryptSmall(encryption.key, encryption.stored.seed, data);
  return { size: data.length, etag: md5, md5, ...checksums, data: kept };
}

async function receiveFile(request: S3Request, options: ChunkOptions, claims: Claims): Promise<ReceivedBody> {
  const { chunks, trailers } = options.open();
  const writer = await options.files.create(digestsFor(request, claims), options.encryption?.key);
  try {
    let size = 0;
    await consumeBody(chunks, chunks === request.message, (chunk) => {
      size += chunk.length;
      options.checkSize(size, false);
      return writer.write(chunk);
    });
    options.checkSize(size, true);
    const file = await writer.finish({ ...options.label(), algorithm: claims.algorithm });
    const checksums = verify(request, claims, file.digests, trailers);
    return { size, etag: toHex(file.digests.md5), ...checksums, file, settle: writer.settle };
  } catch (error) {
    await writer.discard();
    writer.settle();
    throw error;
  }
}

/** Always MD5, which is the ETag: clients compare it with their own. */
function digestsFor({ payload }: S3Request, { announced, algorithm }: Claims): readonly DigestName[] {
  return [
    "md5",
    algorithm,
    ...(announced === undefined ? [] : [announced.algorithm]),
    ...(payload.kind === "hashed" ? (["sha256"] as const) : []),
  ];
}

/**
 * Compares what was received with everything that the client said of it; gives the checksum to keep and the one that was compared.
 * @throws {S3Error} XAmzContentSHA256Mismatch, BadDigest
 */
function verify(
  { payload }: S3Request,
  { announced, contentMd5, algorithm }: Claims,
  found: Readonly<Partial<Record<DigestName, Uint8Array>>>,
  trailers: ReadonlyMap<string, string>,
): Pick<ReceivedBody, "checksum" | "verified"> {
  if (payload.kind === "hashed" && toHex(found.sha256) !== payload.sha256) {
    throw new S3Error("XAmzContentSHA256Mismatch");
  }
  if (contentMd5 !== undefined && !timingSafeEqual(contentMd5, found.md5 ?? new Uint8Array(16))) {
    throw new S3Error("BadDigest", "The Content-MD5 you specified did not match what we received.");
  }
  const toStored = (name: ChecksumName): StoredChecksum => ({
    algorithm: name,
    value: Buffer.from(found[name] ?? []).toString("base64"),
    type: "FULL_OBJECT",
  });
  const verified = announced && toStored(announced.algorithm);
  const expected = announced && (announced.value ?? trailers.get(`x-amz-checksum-${announced.algorithm}`));
  if (expected !== undefined && expected !== verified?.value) {
    throw new S3Error(
      "BadDigest",
      `The ${announced?.algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
    );
  }
  return { checksum: toStored(algorithm), verified };
}

/** All bytes of a small body. */
async function collect(chunks: AsyncIterable<Buffer>, checkSize: ChunkOptions["checkSize"]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  await consumeBody(chunks, false, (chunk) => {
    size += chunk.length;
    checkSize(size, false);
    pieces.push(chunk);
    return undefined;
  });
  checkSize(size, true);
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size);
}

function toHex(digest: Uint8Array | undefined): string {
  return Buffer.from(digest ?? []).toString("hex");
}

/** Reads a small document. @throws {S3Error} MaxMessageLengthExceeded, BadDigest */
export async function readDocument(request: S3Request, limit: number): Promise<Buffer> {
  const contentMd5 = readContentMd5(request);
  const announced = readChecksum(request);
  const checkSize = (size: number) => {
    if (size > limit) {
      throw new S3Error("MaxMessageLengthExceeded", undefined, { details: { MaxMessageLengthBytes: limit } });
    }
  };
  // A body that says that it is too large is not asked for.
  checkSize(request.payload.kind === "chunked" ? 0 : Number(request.message.headers["content-length"] ?? 0));
  const { chunks, trailers } = openBody(request, false);
  const body = await collect(chunks, checkSize);
  if (request.payload.kind === "hashed" && hash("sha256", body) !== request.payload.sha256) {
    throw new S3Error("XAmzContentSHA256Mismatch");
  }
  if (contentMd5 !== undefined && hash("md5", body) !== contentMd5.toString("hex")) {
    throw new S3Error("BadDigest");
  }
  if (announced !== undefined) {
    const found = (await digestAll(body, [announced.algorithm]))[announced.algorithm];
    const expected = announced.value ?? trailers.get(`x-amz-checksum-${announced.algorithm}`);
    if (expected !== undefined && Buffer.from(found ?? []).toString("base64") !== expected) {
      throw new S3Error("BadDigest");
    }
  }
  return body;
}

function isAborted(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ECONNRESET" || error.code === "ERR_STREAM_PREMATURE_CLOSE")
  );
}
