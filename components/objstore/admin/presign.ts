import { createS3Signer, toObjectUrl } from "@swath/s3";

export type PresignMethod = "GET" | "PUT" | "POST" | "HEAD" | "DELETE";

interface PresignOptions {
  readonly publicUrl: string;
  readonly region: string;
  readonly credential: { readonly id: string; readonly secret: string; readonly token: string | null };
  readonly method: PresignMethod;
  readonly bucket: string;
  /** Left out: a request about the bucket. */
  readonly key?: string | undefined;
  readonly seconds: number;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Headers that the request must have besides `host`, names in lower case: `x-amz-copy-source`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly now: number;
}

/** A URL that lets its holder do one request until it expires. */
export function presign({
  publicUrl,
  region,
  credential: { id, secret, token },
  method,
  bucket,
  key,
  seconds,
  query,
  headers = {},
  now,
}: PresignOptions): Promise<string> {
  const sessionToken = token ?? undefined;
  return createS3Signer({ accessKeyId: id, secretAccessKey: secret, sessionToken, region }).presign({
    method,
    url: toObjectUrl({ endpoint: publicUrl, bucket, key, query }),
    headers,
    seconds,
    at: new Date(now),
  });
}
