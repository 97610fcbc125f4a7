import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from "@aws-sdk/client-s3";

/** Removes every object, version, delete marker and unfinished upload of a bucket. A bucket that is gone is empty. */
export async function emptyBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await removeVersions(client, bucket);
    await abortUploads(client, bucket);
  } catch (error) {
    if (!(error instanceof Error && error.name === "NoSuchBucket")) {
      throw error;
    }
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
