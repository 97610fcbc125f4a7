import { hash, randomUUID } from "node:crypto";
import { open } from "node:fs/promises";

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";

import { runParallel } from "../in/parallel.ts";
import type { ObjectResponse, ObjectRequest, ObjectRequests } from "../object-requests.ts";
import { type PartReader, createPartReader } from "./part-reader.ts";
import type { BufferPool } from "./buffer-pool.ts";

/** Of files that go in parts. A store forces each part to its disk by itself, so small ones are slow. */
const PART = 16 * 2 ** 20;
/** Of one file; files go side by side as well. */
const PARALLEL = 2;
const MAX_PARTS = 10_000;

/** One request, tried again while that may help. @param where what it is about, for messages */
export type Ask = <T>(where: string, send: () => Promise<T>) => Promise<T>;

/** Where bytes go, and as what. */
export interface LargeObject {
  readonly size: number;
  readonly bucket: string;
  readonly key: string;
  readonly mediaType: string;
  /** Where it is known: the object is not made when the bytes are others. */
  readonly sha256?: string;
}

export interface Sending {
  readonly client: S3Client;
  readonly requests: ObjectRequests;
  readonly send: Ask;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
  /** What parts are read into. */
  readonly buffers: BufferPool;
}

/** Bytes of each part of a file of this size, the same in every attempt. */
export const partSize = (size: number): number => Math.max(PART, Math.ceil(size / MAX_PARTS / PART) * PART);

/**
 * Sends a large file in parts, each tried again by itself, with a checksum that the store compares; its digest is made on the way.
 * Parts are taken back when the whole fails or is cancelled, so that nothing is stored (and paid for) without being seen: that is
 * why this is not left to `@aws-sdk/lib-storage`, whose cancelled uploads stay.
 * @returns the SHA-256 of the file, in hexadecimal
 */
export async function uploadMultipart(
  { path, ...large }: LargeObject & { readonly path: string },
  sending: Sending,
): Promise<string> {
  const file = await open(path);
  try {
    return await sendPieces(large, createPartReader(file, sending.buffers), sending);
  } finally {
    await file.close();
  }
}

/** The same for bytes that are read from anywhere, once. */
export async function sendPieces(large: LargeObject, pieces: PartReader, sending: Sending): Promise<string> {
  const { client, send, signal, onBytes, buffers } = sending;
  const { size, bucket, key } = large;
  const target = { Bucket: bucket, Key: key };
  const where = `s3://${bucket}/${key}`;
  // By this the object says which upload it is from.
  const mark = randomUUID();
  const create = new CreateMultipartUploadCommand({
    ...target,
    ContentType: large.mediaType,
    Metadata: { upload: mark },
    ChecksumAlgorithm: "CRC32",
  });
  // Not cancelled in between: an upload whose id one does not know cannot be taken back.
  const { UploadId } = await send(where, () => client.send(create));
  const length = partSize(size);
  const parts: CompletedPart[] = Array.from({ length: Math.ceil(size / length) }, (_, index) => ({
    PartNumber: index + 1,
  }));
  let sent = 0;
  try {
    await runParallel([...parts.keys()], PARALLEL, signal, async (index, both) => {
      const bytes = Math.min(length, size - index * length);
      const { buffer, body, crc32 } = await pieces.readNext(bytes);
      try {
        const query = { partNumber: String(index + 1), uploadId: UploadId ?? "" };
        const headers = { "x-amz-checksum-crc32": crc32 };
        const part = { method: "PUT", bucket, key, query, headers, body, isUnsigned: true, signal: both } as const;
        const ETag = await send(where, () => putPart(sending.requests, part));
        parts[index] = { PartNumber: index + 1, ETag, ChecksumCRC32: crc32 };
      } finally {
        buffers.release(buffer);
      }
      sent += bytes;
      onBytes(bytes);
    });
    const sha256 = pieces.finish();
    if (large.sha256 !== undefined && large.sha256 !== sha256) {
      throw Object.assign(new Error("the bytes are not those of the announced digest"), { name: "BadDigest" });
    }
    await send(where, () =>
      client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: parts } }), {
        abortSignal: signal,
      }),
    ).catch(async (error: unknown) => {
      // The answer to an attempt that succeeded may have been lost; the next is then told that there is no such upload.
      const isDone = async () => {
        const head = await send(where, () => client.send(new HeadObjectCommand(target), { abortSignal: signal }));
        return head.Metadata?.["upload"] === mark;
      };
      if (signal.aborted || !(await isDone().catch(() => false))) {
        throw error;
      }
    });
    return sha256;
  } catch (error) {
    onBytes(-sent);
    // What failed is told; a store that is away takes old parts back by its own rules.
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
    throw error;
  }
}

async function putPart(requests: ObjectRequests, part: ObjectRequest & { readonly body: Buffer }): Promise<string> {
  const header = await put(requests, part);
  const etag = header("etag") ?? "";
  // A store that does not know this checksum has compared nothing; what it calls the part is then its MD5.
  if (header("x-amz-checksum-crc32") === undefined && etag.replaceAll('"', "") !== hash("md5", part.body)) {
    throw Object.assign(new Error("what arrived is not what was sent"), {
      name: "BadDigest",
      $metadata: { httpStatusCode: 400 },
    });
  }
  return etag;
}

/** Puts an object or a part of one; the headers of the answer. */
export async function put(requests: ObjectRequests, request: ObjectRequest): Promise<ObjectResponse["header"]> {
  const { header, body } = await requests.send(request);
  for await (const _chunk of body) {
    // Nothing is in it; read, so that the connection can serve the next request.
  }
  return header;
}
