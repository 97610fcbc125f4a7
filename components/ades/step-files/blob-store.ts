import type { Readable } from "node:stream";

import { CreateBucketCommand, DeleteObjectsCommand, HeadBucketCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";

import { retry } from "../staging/in/retry.ts";
import { createObjectRequests } from "../staging/object-requests.ts";
import { createStreamPieces } from "../staging/out/part-reader.ts";
import { createBufferPool } from "../staging/out/buffer-pool.ts";
import { type Ask, put, sendPieces } from "../staging/out/multipart-upload.ts";
import { createS3Client } from "../staging/s3-client.ts";
import { toS3Failure } from "../staging/s3-failure.ts";
import type { S3Target } from "../staging/types.ts";

export interface Blob {
  readonly sha256: string;
  readonly size: number;
}

/** Files of steps in the object storage: below one prefix for each job, blobs by their SHA-256. */
export interface BlobStore {
  /** Makes the bucket when it is missing. */
  readonly open: (signal: AbortSignal) => Promise<void>;
  /** `undefined` for one that is not there; the body must be read to its end or destroyed. */
  readonly read: (
    job: string,
    sha256: string,
    signal: AbortSignal,
  ) => Promise<{ readonly size: number; readonly body: Readable } | undefined>;
  /** @throws an error named BadDigest, without storing anything, when the bytes are not those of the digest */
  readonly write: (job: string, blob: Blob, body: Readable, signal: AbortSignal) => Promise<void>;
  readonly readDocument: (job: string, name: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly writeDocument: (job: string, name: string, text: string, signal: AbortSignal) => Promise<void>;
  /** Digests of the blobs that a job has. */
  readonly listBlobs: (job: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly listJobs: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly removeJob: (job: string, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Bytes up to which a blob goes in one request, from memory. */
const SMALL = 8 * 2 ** 20;
const RETRIES = 4;
/** Parts and small blobs in memory at the same time. */
const BUFFERS = 6;
const JOBS = "jobs/";
/** Bytes of a document about one step. */
export const MAX_DOCUMENT_BYTES = 64 * 2 ** 20;

export function createBlobStore(
  target: S3Target,
  { connections, stallSeconds }: { readonly connections: number; readonly stallSeconds: number },
): BlobStore {
  const { bucket } = target;
  const client = createS3Client(target, { connections, stallSeconds });
  const requests = createObjectRequests(target, { connections, stallSeconds });
  const buffers = createBufferPool(BUFFERS);
  const blobKey = (job: string, sha256: string) => `${JOBS}${job}/blobs/${sha256}`;
  const documentKey = (job: string, name: string) => `${JOBS}${job}/${name}.json`;
  const request = <T>(where: string, signal: AbortSignal, send: () => Promise<T>): Promise<T> =>
    retry(
      () =>
        send().catch((error: unknown) => {
          throw signal.aborted ? signal.reason : toS3Failure(error, "target", where);
        }),
      { retries: RETRIES, signal },
    );
  const get = async (key: string, signal: AbortSignal) =>
    request(`s3://${bucket}/${key}`, signal, () =>
      requests.send({ method: "GET", bucket, key, signal }).catch((error: unknown) => {
        if ((error as Error).name === "NoSuchKey") {
          return undefined;
        }
        throw error;
      }),
    );
  const putSmall = async (key: string, body: Buffer, signal: AbortSignal, sha256?: string): Promise<void> => {
    const checked = sha256 === undefined ? {} : { sha256 };
    await request(`s3://${bucket}/${key}`, signal, () =>
      put(requests, { method: "PUT", bucket, key, body, signal, ...checked }),
    );
  };
  const list = async (prefix: string, signal: AbortSignal, delimiter?: string) => {
    const keys: string[] = [];
    const prefixes: string[] = [];
    let token: string | undefined;
    do {
      const page = await request(`s3://${bucket}/${prefix}`, signal, () =>
        client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            ...(delimiter !== undefined && { Delimiter: delimiter }),
            ...(token !== undefined && { ContinuationToken: token }),
          }),
          { abortSignal: signal },
        ),
      );
      keys.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ""));
      prefixes.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ""));
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return { keys, prefixes };
  };
  return {
    open: async (signal) => {
      await request(`s3://${bucket}`, signal, () =>
        client
          .send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal })
          .catch(async (error: unknown) => {
            if ((error as Error).name !== "NotFound") {
              throw error;
            }
            await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((second: unknown) => {
              // Another job's runner was faster.
              if (!["BucketAlreadyOwnedByYou", "BucketAlreadyExists"].includes((second as Error).name)) {
                throw second;
              }
            });
          }),
      );
    },
    read: async (job, sha256, signal) => {
      const response = await get(blobKey(job, sha256), signal);
      return response && { size: Number(response.header("content-length")), body: response.body };
    },
    write: async (job, { sha256, size }, body, signal) => {
      const key = blobKey(job, sha256);
      const pieces = createStreamPieces(body, buffers);
      if (size > SMALL) {
        const callSigned: Ask = (where, send) => request(where, signal, send);
        const sending = { client, requests, send: callSigned, signal, onBytes: () => {}, buffers };
        await sendPieces({ size, bucket, key, mediaType: "application/octet-stream", sha256 }, pieces, sending);
        return;
      }
      const { buffer, body: bytes } = await pieces.readNext(size);
      try {
        if (pieces.finish() !== sha256) {
          throw Object.assign(new Error("the bytes are not those of the announced digest"), { name: "BadDigest" });
        }
        await putSmall(key, bytes, signal, sha256);
      } finally {
        buffers.release(buffer);
      }
    },
    readDocument: async (job, name, signal) => {
      const response = await get(documentKey(job, name), signal);
      if (response === undefined) {
        return undefined;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_DOCUMENT_BYTES) {
          throw new Error(`the document ${name} is larger than ${MAX_DOCUMENT_BYTES} bytes`);
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString("utf8");
    },
    writeDocument: (job, name, text, signal) => putSmall(documentKey(job, name), Buffer.from(text), signal),
    listBlobs: async (job, signal) => {
      const prefix = blobKey(job, "");
      return (await list(prefix, signal)).keys.map((key) => key.slice(prefix.length));
    },
    listJobs: async (signal) => (await list(JOBS, signal, "/")).prefixes.map((prefix) => prefix.slice(JOBS.length, -1)),
    removeJob: async (job, signal) => {
      const { keys } = await list(`${JOBS}${job}/`, signal);
      for (let at = 0; at < keys.length; at += 1000) {
        const Objects = keys.slice(at, at + 1000).map((Key) => ({ Key }));
        await request(`s3://${bucket}/${JOBS}${job}/`, signal, () =>
          client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }), {
            abortSignal: signal,
          }),
        );
      }
    },
    close: async () => {
      client.destroy();
      await requests.close();
    },
  };
}
