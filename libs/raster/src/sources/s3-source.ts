import { AwsV4Signer } from "aws4fetch";

import { openHttpSource } from "./http-source.ts";
import type { S3Location, Source } from "./source.ts";

/** An object of S3 storage, with path-style addresses and, where there are credentials, signed requests (Signature V4). */
export function openS3Source({ endpoint, region, bucket, key, credentials, socketPath }: S3Location): Source {
  const url = `${endpoint.replace(/\/+$/, "")}/${encodeURIComponent(bucket)}/${key.split("/").map(encodeURIComponent).join("/")}`;
  return openHttpSource(
    // The endpoint is the operator's own choice, and may well be in a private network.
    { kind: "http", url, allowPrivate: true, ...(socketPath !== undefined && { socketPath }) },
    async (address, headers) => {
      if (credentials === undefined) {
        return headers;
      }
      const signed = await new AwsV4Signer({
        ...credentials,
        service: "s3",
        region,
        method: "GET",
        url: address,
        headers,
      }).sign();
      return { ...headers, ...Object.fromEntries(signed.headers) };
    },
  );
}
