import type { Readable } from "node:stream";

import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  AbortMultipartUploadCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { createS3Signer, toObjectUrl } from "@swath/s3";
import { parsePeerUrl } from "@swath/service";
import { Agent, type AgentOptions } from "node:http";
import { Agent as TlsAgent } from "node:https";

import type { BlobStore } from "./blob-store.ts";
import { createBufferPool } from "./part-buffers.ts";
import { PART_BYTES, deleteTails, openS3Writer } from "./s3-writer.ts";

export interface S3BlobStoreOptions {
  /** Address inside the deployment, as `createPeer` takes it, or public. */
  readonly url: string;
  /** Address that clients use; without it there are no redirects. */
  readonly publicUrl: string | undefined;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Parts in memory at once, of all uploads. */
const PART_BUFFERS = 12;
const MAX_SOCKETS = 128;
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a client may take to begin reading by a presigned URL. */
const LINK_SECONDS = 600;

/** Content as objects of a bucket, named by their ids. */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { bucket, region, accessKey, secretKey, publicUrl } = options;
  const { origin, prefix, socketPath } = parsePeerUrl(options.url);
  const httpAgent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, socketPath } as AgentOptions);
  const httpsAgent = new TlsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const client = new S3Client({
    endpoint: `${origin}${prefix}`,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestHandler: new NodeHttpHandler({ httpAgent, httpsAgent, requestTimeout: REQUEST_TIMEOUT_MS }),
    // Content is named by its digest; a checksum of each part as well is not asked for by every storage.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const signer = createS3Signer({ accessKeyId: accessKey, secretAccessKey: secretKey, region });
  const buffers = createBufferPool(PART_BUFFERS, PART_BYTES);
  const check = async () => {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
  };
  await check().catch(async (error: unknown) => {
    if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 404) {
      throw error;
    }
    await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(ignoreOwned);
  });
  return {
    openWriter: (start) => openS3Writer({ client, bucket, buffers }, start),
    read: async (id, { start, end }) => {
      const { Body } = await client.send(
        new GetObjectCommand({ Bucket: bucket, Key: id, Range: `bytes=${start}-${end}` }),
      );
      return Body as Readable;
    },
    presign:
      publicUrl === undefined
        ? undefined
        : (id) => signer.presign({ url: toObjectUrl({ endpoint: publicUrl, bucket, key: id }), seconds: LINK_SECONDS }),
    tidy: (state) => deleteTails(client, bucket, state),
    remove: (id) => removeContent(client, bucket, id),
    check,
    close: async () => {
      buffers.close();
      client.destroy();
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

/** Everything of an id: the object, parts that were never put together, and what was kept between two requests. */
async function removeContent(client: S3Client, bucket: string, id: string): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: id }));
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })).catch((error: unknown) => {
      if (!(error instanceof S3ServiceException && error.name === "NoSuchUpload")) {
        throw error;
      }
    });
  }
  for (;;) {
    const { Contents = [], IsTruncated } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: id }));
    if (Contents.length > 0) {
      const { Errors = [] } = await client.send(
        new DeleteObjectsCommand({
          Bucket: bucket,
          Delete: { Objects: Contents.map(({ Key }) => ({ Key })), Quiet: true },
        }),
      );
      if (Errors[0] !== undefined) {
        throw new Error(`the object storage does not delete ${Errors[0].Key}: ${Errors[0].Message}`);
      }
    }
    if (IsTruncated !== true) {
      return;
    }
  }
}

/** Another replica made the bucket at the same time. */
function ignoreOwned(error: unknown): void {
  if (!(error instanceof S3ServiceException && error.name === "BucketAlreadyOwnedByYou")) {
    throw error;
  }
}
