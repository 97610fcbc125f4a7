import { open } from "node:fs/promises";

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  type S3Client,
} from "@aws-sdk/client-s3";

import { runParallel } from "../in/parallel.ts";
import type { ObjectRequest, ObjectRequests } from "../object-requests.ts";

/** Files up to this size go in one request, larger ones in parts of it. */
export const PART = 8 * 2 ** 20;
/** Of one file; files go side by side as well. */
const PARALLEL = 2;
const MAX_PARTS = 10_000;

/** One request, tried again while that may help. @param where what it is about, for messages */
export type Ask = <T>(where: string, send: () => Promise<T>) => Promise<T>;

interface Sending {
  readonly client: S3Client;
  readonly requests: ObjectRequests;
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
  /** Whether the object is there and is this file. */
  readonly isDone: () => Promise<boolean>;
}

/**
 * Sends a large file in parts, each tried again by itself. Parts are taken back when the whole fails or is cancelled, so that
 * nothing is stored (and paid for) without being seen: that is why this is not left to `@aws-sdk/lib-storage`, whose cancelled
 * uploads stay.
 */
export async function sendInParts(
  path: string,
  size: number,
  input: CreateMultipartUploadCommandInput,
  sending: Sending,
): Promise<void> {
  const { client, requests, ask, signal, onBytes, isDone } = sending;
  const target = { Bucket: input.Bucket, Key: input.Key };
  const where = `s3://${target.Bucket}/${target.Key}`;
  // Not cancelled in between: an upload whose id one does not know cannot be taken back.
  const { UploadId } = await ask(where, () => client.send(new CreateMultipartUploadCommand(input)));
  const length = Math.max(PART, Math.ceil(size / MAX_PARTS / PART) * PART);
  const parts: CompletedPart[] = Array.from({ length: Math.ceil(size / length) }, (_, index) => ({
    PartNumber: index + 1,
  }));
  let sent = 0;
  const file = await open(path);
  try {
    await runParallel([...parts.keys()], PARALLEL, signal, async (index, both) => {
      const bytes = Buffer.alloc(Math.min(length, size - index * length));
      await file.read(bytes, 0, bytes.length, index * length);
      const query = { partNumber: String(index + 1), uploadId: UploadId ?? "" };
      const put = {
        method: "PUT",
        bucket: input.Bucket ?? "",
        key: input.Key ?? "",
        query,
        body: bytes,
        signal: both,
      } as const;
      const ETag = await ask(where, () => putBytes(requests, put));
      parts[index] = { PartNumber: index + 1, ETag };
      sent += bytes.length;
      onBytes(bytes.length);
    });
    await ask(where, () =>
      client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: parts } }), {
        abortSignal: signal,
      }),
    ).catch(async (error: unknown) => {
      // The answer to an attempt that succeeded may have been lost; the next is then told that there is no such upload.
      if (signal.aborted || !(await isDone().catch(() => false))) {
        throw error;
      }
    });
  } catch (error) {
    onBytes(-sent);
    // What failed is told; a store that is away takes old parts back by its own rules.
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Puts an object or a part of one; its ETag. */
export async function putBytes(requests: ObjectRequests, put: ObjectRequest): Promise<string> {
  const { header, body } = await requests.send(put);
  for await (const _chunk of body) {
    // Nothing is in it; read, so that the connection can serve the next request.
  }
  return header("etag") ?? "";
}
