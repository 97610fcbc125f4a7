import { createS3Signer, toObjectUrl } from "@swath/s3";

import { openHttpSource } from "./http-source.ts";
import type { S3Location, Source } from "./source.ts";

/** An object of S3 storage, with path-style addresses and, where there are credentials, signed requests (Signature V4). */
export function openS3Source({ endpoint, region, bucket, key, credentials, socketPath }: S3Location): Source {
  const signer = credentials && createS3Signer({ ...credentials, region });
  return openHttpSource(
    // The endpoint is the operator's own choice, and may well be in a private network.
    {
      kind: "http",
      url: toObjectUrl({ endpoint, bucket, key }),
      allowPrivate: true,
      ...(socketPath !== undefined && { socketPath }),
    },
    async (url, headers) => (signer === undefined ? headers : signer.sign({ url, headers })),
  );
}
