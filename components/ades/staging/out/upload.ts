import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";

import { DeleteObjectCommand, HeadObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { toMultihash } from "@swath/stac";

import { retry } from "../in/retry.ts";
import { createS3Client } from "../s3-client.ts";
import { createObjectRequests } from "../object-requests.ts";
import { toS3Failure } from "../s3-failure.ts";
import type { S3Target, StagedFile } from "../types.ts";
import { type Ask, PART, putBytes, sendInParts } from "./send-in-parts.ts";

const RETRIES = 4;
const STALL_SECONDS = 60;

/** Writes below one prefix of a bucket. Every error is a `StagingError` about the target, or the signal's reason. */
export interface Uploader {
  /** Sends a file unless the same bytes are there already, in parts when it is large. */
  readonly sendFile: (path: string, key: string, mediaType: string) => Promise<StagedFile>;
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
    signal,
    onBytes,
  }: { readonly parallel: number; readonly signal: AbortSignal; readonly onBytes: (bytes: number) => void },
): Promise<Uploader> {
  const options = { connections: parallel * 2, stallSeconds: STALL_SECONDS };
  const client = createS3Client(target, options);
  const requests = createObjectRequests(target, options);
  const hrefOf = (key: string) => `s3://${target.bucket}/${key}`;
  const ask: Ask = (where, send) =>
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
  const present = await list(client, target.bucket, prefix, ask, signal);

  const isSame = async (key: string, sha256: string, mediaType: string): Promise<boolean> => {
    const head = await ask(hrefOf(key), () =>
      client.send(new HeadObjectCommand({ Bucket: target.bucket, Key: key }), { abortSignal: signal }),
    );
    return head.Metadata?.["sha256"] === sha256 && head.ContentType === mediaType;
  };
  const isThere = async (key: string, size: number, sha256: string, mediaType: string): Promise<boolean> =>
    present.get(key) === size && (await isSame(key, sha256, mediaType));
  const sendBytes = async (bytes: Buffer, key: string, mediaType: string): Promise<StagedFile> => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (!(await isThere(key, bytes.length, sha256, mediaType))) {
      const headers = { "content-type": mediaType, "x-amz-meta-sha256": sha256 };
      const put = { method: "PUT", bucket: target.bucket, key, headers, body: bytes, sha256, signal } as const;
      await ask(hrefOf(key), () => putBytes(requests, put));
    }
    onBytes(bytes.length);
    return {
      href: hrefOf(key),
      mediaType,
      bytes: bytes.length,
      checksum: toMultihash({ algorithm: "sha256", hex: sha256 }),
    };
  };
  const sendLarge = async (path: string, size: number, key: string, mediaType: string): Promise<StagedFile> => {
    const sha256 = await hashFile(path, signal);
    if (await isThere(key, size, sha256, mediaType)) {
      onBytes(size);
    } else {
      const input = { Bucket: target.bucket, Key: key, ContentType: mediaType, Metadata: { sha256 } };
      await sendInParts(path, size, input, {
        client,
        requests,
        ask,
        signal,
        onBytes,
        isDone: () => isSame(key, sha256, mediaType),
      });
    }
    return { href: hrefOf(key), mediaType, bytes: size, checksum: toMultihash({ algorithm: "sha256", hex: sha256 }) };
  };
  return {
    present,
    sendFile: async (path, key, mediaType) => {
      const { size } = await stat(path);
      return size <= PART ? sendBytes(await readFile(path), key, mediaType) : sendLarge(path, size, key, mediaType);
    },
    sendDocument: (value, key, mediaType) =>
      sendBytes(Buffer.from(`${JSON.stringify(value, null, 2)}\n`), key, mediaType),
    remove: async (key) => {
      await ask(hrefOf(key), () =>
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
  ask: Ask,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  let token: string | undefined;
  do {
    const page = await ask(`s3://${bucket}/${prefix}/`, () =>
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

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20, signal }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
  }
  return hash.digest("hex");
}
