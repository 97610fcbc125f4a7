import { CreateBucketCommand, DeleteBucketCommand, HeadBucketCommand, type S3Client } from "@aws-sdk/client-s3";

import { emptyBucket } from "@swath/storage-admin";
import type { BucketOutputs } from "./bucket.ts";
import type { Step } from "./step.ts";

/** Lends a client with the platform's own keys. */
export type WithStorage = <T>(work: (client: S3Client) => Promise<T>) => Promise<T>;

interface PlainBucketOptions {
  readonly withStorage: WithStorage;
  readonly region: string;
}

/**
 * The bucket of a workspace in an existing object storage, of which nothing but S3 is known: it is made, used for results, and
 * emptied and deleted. Keys for members, quotas and usage are no part of S3; those who run that storage give them.
 */
export function createPlainBucketStep({ withStorage, region }: PlainBucketOptions): Step {
  return {
    name: "bucket",
    title: "Storage",
    apply: ({ workspace: { name }, wasDone, save }) =>
      withStorage(async (client) => {
        const isThere = await exists(client, name);
        if (!isThere) {
          await create(client, name, region);
        }
        await save({ bucketname: name, keyless: true } satisfies BucketOutputs);
        return wasDone && !isThere ? [`bucket ${name} was gone; it was made again, empty`] : [];
      }),
    remove: async ({ workspace: { name, data } }) => {
      if (data === "purge") {
        await withStorage(async (client) => {
          if (await exists(client, name)) {
            await emptyBucket(client, name);
            await client.send(new DeleteBucketCommand({ Bucket: name }));
          }
        });
      }
    },
  };
}

/** @throws {Error} when the bucket is there and not the platform's */
async function exists(client: S3Client, bucket: string): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
    return true;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) {
      return false;
    }
    if (status === 403) {
      throw new Error(
        `the object storage refuses bucket ${bucket} (403): it belongs to somebody else there, or the platform's key (OBJSTORE_ROOT_USER) may not use it`,
        { cause: error },
      );
    }
    throw error;
  }
}

async function create(client: S3Client, bucket: string, region: string): Promise<void> {
  try {
    await client.send(
      new CreateBucketCommand({
        Bucket: bucket,
        // The region that S3 takes for none given, and then refuses to be told.
        ...(region !== "us-east-1" && { CreateBucketConfiguration: { LocationConstraint: region as "eu-west-1" } }),
      }),
    );
  } catch (error) {
    if (!(error instanceof Error && error.name === "BucketAlreadyOwnedByYou")) {
      throw new Error(`the object storage does not make bucket ${bucket}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
