import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";

import { ROOT } from "./start-objstore.ts";

/** The AWS SDK's client of a store, with the root user's keys unless told otherwise. The caller destroys it. */
export function createS3Client({ url }: { readonly url: string }, more: S3ClientConfig = {}): S3Client {
  return new S3Client({ endpoint: url, region: "us-east-1", forcePathStyle: true, credentials: ROOT, ...more });
}
