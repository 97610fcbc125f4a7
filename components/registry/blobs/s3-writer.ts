import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from "@aws-sdk/client-s3";

import { RegistryError } from "../errors.ts";
import type { BlobWriter, WriterStart, WriterState } from "./blob-store.ts";
import type { BufferPool } from "./part-buffers.ts";

/** All parts but the last: at least 5 MiB, and 10,000 of them at most. */
export const PART_BYTES = 6 << 20;
/** Parts larger than one buffer are not made, so this is the largest content. */
export const MAX_S3_BLOB_BYTES = PART_BYTES * 10_000;

interface WriterDeps {
  readonly client: S3Client;
  readonly bucket: string;
  readonly buffers: BufferPool;
}

/** What is kept of an upload between two requests. */
interface S3State {
  readonly uploadId?: string;
  /** ETags of the parts, in order. */
  readonly parts: readonly string[];
  /** Object with the bytes behind the last whole part. */
  readonly tail?: string;
  /** The one before it, which nothing needs once this state is kept. */
  readonly stale?: string;
}

/** Deletes the objects that only served to go on with an upload; it is complete, and known to be. */
export async function deleteTails(client: S3Client, bucket: string, state: WriterState): Promise<void> {
  const { tail, stale } = state as unknown as S3State;
  for (const Key of [tail, stale]) {
    if (Key !== undefined) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    }
  }
}

/** Content that is not complete is the parts of a multipart upload and an object with the rest; small content is one object. */
export async function openS3Writer(deps: WriterDeps, { id, received, state }: WriterStart): Promise<BlobWriter> {
  const { client, bucket, buffers } = deps;
  const before = (state ?? { parts: [] }) as unknown as S3State;
  const parts = [...before.parts];
  let { uploadId } = before;
  let total = received;
  const buffer = await buffers.acquire();
  let isReleased = false;
  let filled = 0;

  const putPart = async () => {
    uploadId ??= (await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: id }))).UploadId;
    const { ETag } = await client.send(
      new UploadPartCommand({
        Bucket: bucket,
        Key: id,
        UploadId: uploadId,
        PartNumber: parts.length + 1,
        Body: buffer.subarray(0, filled),
        ContentLength: filled,
      }),
    );
    parts.push(ETag ?? "");
    filled = 0;
  };
  const fill = async (chunk: Buffer) => {
    for (let taken = 0; taken < chunk.length;) {
      // A part is sent when more follows it, so that the last one is never empty.
      if (filled === PART_BYTES) {
        await putPart();
      }
      const copied = chunk.copy(buffer, filled, taken);
      taken += copied;
      filled += copied;
      total += copied;
    }
  };
  const write: BlobWriter["write"] = (chunk) => {
    if (total + chunk.length > MAX_S3_BLOB_BYTES) {
      throw new RegistryError("SIZE_INVALID", `A blob must not be larger than ${MAX_S3_BLOB_BYTES} bytes.`, {
        status: 413,
      });
    }
    if (filled + chunk.length > PART_BYTES) {
      return fill(chunk);
    }
    chunk.copy(buffer, filled);
    filled += chunk.length;
    total += chunk.length;
    return undefined;
  };
  const release = async () => {
    if (!isReleased) {
      isReleased = true;
      buffers.release(buffer);
    }
  };
  try {
    if (before.tail !== undefined) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: before.tail }));
      const tail = Buffer.from((await Body?.transformToByteArray()) ?? []);
      tail.copy(buffer);
      filled = tail.length;
    }
  } catch (error) {
    await release();
    throw error;
  }

  return {
    write,
    pause: async () => {
      // A name of its own for every length: what the database names is never overwritten.
      const tail = filled > 0 ? `${id}.tail-${total}` : undefined;
      if (tail !== undefined && tail !== before.tail) {
        await client.send(
          new PutObjectCommand({ Bucket: bucket, Key: tail, Body: buffer.subarray(0, filled), ContentLength: filled }),
        );
      }
      if (before.stale !== undefined) {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: before.stale }));
      }
      const stale = before.tail === tail ? undefined : before.tail;
      return {
        parts,
        ...(uploadId !== undefined && { uploadId }),
        ...(tail !== undefined && { tail }),
        ...(stale !== undefined && { stale }),
      };
    },
    finish: async () => {
      if (uploadId === undefined) {
        await client.send(
          new PutObjectCommand({ Bucket: bucket, Key: id, Body: buffer.subarray(0, filled), ContentLength: filled }),
        );
        return;
      }
      try {
        if (filled > 0) {
          await putPart();
        }
        await client.send(
          new CompleteMultipartUploadCommand({
            Bucket: bucket,
            Key: id,
            UploadId: uploadId,
            MultipartUpload: { Parts: parts.map((ETag, index) => ({ ETag, PartNumber: index + 1 })) },
          }),
        );
      } catch (error) {
        // An earlier attempt completed it and ended before anyone heard of it.
        if (!(error instanceof S3ServiceException && error.name === "NoSuchUpload")) {
          throw error;
        }
        const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: id }));
        if (ContentLength !== total) {
          throw error;
        }
      }
    },
    close: release,
  };
}
