import { PutBucketPolicyCommand, S3Client } from "@aws-sdk/client-s3";

import { StorageRefusal } from "../bucket-storage.ts";
import type { Swift } from "./swift.ts";

interface ShareOptions {
  readonly s3Url: string;
  readonly region: string;
  readonly access: string;
  readonly secret: string;
  readonly bucket: string;
  /** Project whose identities may write. */
  readonly serviceProject: string;
}

/** Lets another project list, read, write and delete in a bucket. */
export function serviceProjectPolicy(bucket: string, project: string): object {
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "service-project",
        Effect: "Allow",
        Principal: { AWS: [`arn:aws:iam::${project}:root`] },
        Action: ["s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
        Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
      },
    ],
  };
}

/** By an S3 bucket policy (Ceph); Swift's own S3 has none, so there by the container's access list. */
export async function shareBucket(options: ShareOptions, swift: Swift, signal: AbortSignal): Promise<void> {
  const { s3Url, region, access, secret, bucket, serviceProject } = options;
  const client = new S3Client({
    endpoint: s3Url,
    region,
    forcePathStyle: true,
    maxAttempts: 2,
    credentials: { accessKeyId: access, secretAccessKey: secret },
  });
  try {
    const Policy = JSON.stringify(serviceProjectPolicy(bucket, serviceProject));
    await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }), { abortSignal: signal });
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === 501 || status === 405) {
      await swift.changeContainer(bucket, {
        "x-container-read": `${serviceProject}:*`,
        "x-container-write": `${serviceProject}:*`,
      });
      return;
    }
    const message = `the cloud's S3 ${s3Url} does not take the policy of bucket ${bucket}: ${(error as Error).message}`;
    throw status !== undefined && status < 500
      ? new StorageRefusal("PolicyRefused", message)
      : new Error(message, { cause: error });
  } finally {
    client.destroy();
  }
}
