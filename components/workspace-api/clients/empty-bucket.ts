import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { parsePeerUrl } from "@swath/service";
import { Agent, type AgentOptions } from "node:http";

interface StorageOptions {
  /** Address inside the deployment, as `createPeer` takes it, or public. */
  readonly url: string;
  readonly region: string;
  readonly user: string;
  readonly password: string;
}

/** Removes every object, version, delete marker and unfinished upload of a bucket. A bucket that is gone is empty. */
export async function emptyBucket({ url, region, user, password }: StorageOptions, bucket: string): Promise<void> {
  const { origin, prefix, socketPath } = parsePeerUrl(url);
  // Node's agent hands its options on to every connection; its types do not say that a socket may be among them.
  const agent = new Agent({ keepAlive: true, socketPath } as AgentOptions);
  const client = new S3Client({
    endpoint: `${origin}${prefix}`,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: user, secretAccessKey: password },
    ...(socketPath !== undefined && { requestHandler: new NodeHttpHandler({ httpAgent: agent }) }),
  });
  try {
    await removeVersions(client, bucket);
    await abortUploads(client, bucket);
  } catch (error) {
    if (!(error instanceof Error && error.name === "NoSuchBucket")) {
      throw error;
    }
  } finally {
    client.destroy();
    agent.destroy();
  }
}

async function removeVersions(client: S3Client, bucket: string): Promise<void> {
  for (;;) {
    // Always from the start: what was listed is gone the next time.
    const page = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, MaxKeys: 1000 }));
    const objects = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({
      Key,
      VersionId,
    }));
    if (objects.length === 0) {
      return;
    }
    const { Errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }),
    );
    if (Errors[0] !== undefined) {
      throw new Error(
        `${Errors.length} objects of bucket ${bucket} could not be deleted; ${Errors[0].Key}: ${Errors[0].Message}`,
      );
    }
  }
}

async function abortUploads(client: S3Client, bucket: string): Promise<void> {
  for (;;) {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    if (Uploads.length === 0) {
      return;
    }
    for (const { Key, UploadId } of Uploads) {
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
  }
}
