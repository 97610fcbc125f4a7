import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

import {
  DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  type S3Client,
} from "@aws-sdk/client-s3";
import { toMultihash } from "@swath/stac";

import { AT_ONCE } from "../at-once.ts";
import { retry } from "../in/retry.ts";
import { createS3Client } from "../s3-client.ts";
import { createObjectRequests } from "../object-requests.ts";
import { toS3Failure } from "../s3-failure.ts";
import type { S3Target, StagedFile } from "../types.ts";
import { digestInParts } from "./part-reader.ts";
import { createBufferPool } from "./buffer-pool.ts";
import { type Ask, partSize, put, uploadMultipart } from "./multipart-upload.ts";

/** Bytes up to which a file goes in one request, from memory. */
const SMALL = 8 * 2 ** 20;
const RETRIES = 4;
const STALL_SECONDS = 60;

export interface LocalFile {
  readonly path: string;
  readonly size: number;
}

/** Writes below one prefix of a bucket. Every error is a `StagingError` about the target, or the signal's reason. */
export interface Uploader {
  /** Sends a file unless the same bytes are there already, in parts when it is large. */
  readonly sendFile: (file: LocalFile, key: string, mediaType: string) => Promise<StagedFile>;
  readonly sendDocument: (value: object, key: string, mediaType: string) => Promise<StagedFile>;
  readonly remove: (key: string) => Promise<void>;
  /** Keys below the prefix at the start, without those removed since. */
  readonly present: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

export async function openUploader(
  target: S3Target,
  prefix: string,
  {
    parallel,
    connections,
    signal,
    onBytes,
  }: {
    /** Large files at the same time. */
    readonly parallel: number;
    readonly connections: number;
    readonly signal: AbortSignal;
    readonly onBytes: (bytes: number) => void;
  },
): Promise<Uploader> {
  const options = { connections, stallSeconds: STALL_SECONDS };
  const client = createS3Client(target, options);
  const requests = createObjectRequests(target, options);
  const hrefOf = (key: string) => `s3://${target.bucket}/${key}`;
  const call: Ask = (where, send) =>
    retry(
      () =>
        send().catch((error: unknown) => {
          if (signal.aborted) {
            throw signal.reason;
          }
          // A part that ends because another has failed: that one tells why.
          throw (error as Error).name === "AbortError" ? error : toS3Failure(error, "target", where);
        }),
      { retries: RETRIES, signal },
    );
  const present = await list(client, target.bucket, prefix, call, signal);

  /** What the object says of itself; asked only for one of this size that was there at the start. */
  const findPresent = async (key: string, size: number): Promise<HeadObjectCommandOutput | undefined> =>
    present.get(key) === size
      ? call(hrefOf(key), () =>
          client.send(new HeadObjectCommand({ Bucket: target.bucket, Key: key }), { abortSignal: signal }),
        )
      : undefined;
  const buffers = createBufferPool(parallel);
  const toStaged = (key: string, bytes: number, sha256: string, mediaType: string): StagedFile => ({
    href: hrefOf(key),
    mediaType,
    bytes,
    checksum: toMultihash({ algorithm: "sha256", hex: sha256 }),
  });
  const sendBytes = async (bytes: Buffer, key: string, mediaType: string): Promise<StagedFile> => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const there = await findPresent(key, bytes.length);
    if (there?.Metadata?.["sha256"] !== sha256 || there.ContentType !== mediaType) {
      const headers = { "content-type": mediaType, "x-amz-meta-sha256": sha256 };
      const request = { method: "PUT", bucket: target.bucket, key, headers, body: bytes, sha256, signal } as const;
      await call(hrefOf(key), () => put(requests, request));
    }
    onBytes(bytes.length);
    return toStaged(key, bytes.length, sha256, mediaType);
  };
  const sendLarge = async (path: string, size: number, key: string, mediaType: string): Promise<StagedFile> => {
    const there = await findPresent(key, size);
    if (there?.ETag !== undefined && there.ContentType === mediaType) {
      const { etag, sha256 } = await digestInParts(path, { size, length: partSize(size), signal });
      if (there.ETag === `"${etag}"`) {
        onBytes(size);
        return toStaged(key, size, sha256, mediaType);
      }
    }
    const large = { path, size, bucket: target.bucket, key, mediaType };
    const sha256 = await uploadMultipart(large, { client, requests, send: call, signal, onBytes, buffers });
    return toStaged(key, size, sha256, mediaType);
  };
  return {
    present,
    sendFile: async ({ path, size }, key, mediaType) =>
      size <= SMALL
        ? sendBytes(size <= AT_ONCE ? readFileSync(path) : await readFile(path), key, mediaType)
        : sendLarge(path, size, key, mediaType),
    sendDocument: (value, key, mediaType) =>
      sendBytes(Buffer.from(`${JSON.stringify(value, null, 2)}\n`), key, mediaType),
    remove: async (key) => {
      await call(hrefOf(key), () =>
        client.send(new DeleteObjectCommand({ Bucket: target.bucket, Key: key }), { abortSignal: signal }),
      );
      present.delete(key);
    },
    close: async () => {
      client.destroy();
      await requests.close();
    },
  };
}

async function list(
  client: S3Client,
  bucket: string,
  prefix: string,
  send: Ask,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  let token: string | undefined;
  do {
    const page = await send(`s3://${bucket}/${prefix}/`, () =>
      client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: `${prefix}/`,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
        { abortSignal: signal },
      ),
    );
    for (const { Key, Size } of page.Contents ?? []) {
      sizes.set(Key ?? "", Size ?? 0);
    }
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return sizes;
}
