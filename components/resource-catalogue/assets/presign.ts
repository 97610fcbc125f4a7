import { createHmac, hash } from "node:crypto";

export interface SigningKey {
  /** Public base URL of the object storage; no slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

interface PresignOptions {
  readonly bucket: string;
  readonly key: string;
  readonly seconds: number;
  readonly now: Date;
}

/** A URL that lets its holder read one object until it expires (AWS Signature Version 4, query parameters; path style). */
export function presignGet(
  { endpoint, region, accessKey, secretKey }: SigningKey,
  { bucket, key, seconds, now }: PresignOptions,
): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const { host, origin, pathname } = new URL(endpoint);
  const path = `${pathname.replace(/\/+$/, "")}/${encode(bucket)}/${key.split("/").map(encode).join("/")}`;
  const query = [
    ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
    ["X-Amz-Credential", `${accessKey}/${scope}`],
    ["X-Amz-Date", time],
    ["X-Amz-Expires", String(seconds)],
    ["X-Amz-SignedHeaders", "host"],
  ]
    .map(([name = "", value = ""]) => `${encode(name)}=${encode(value)}`)
    .join("&");
  const canonical = `GET\n${path}\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash("sha256", canonical)}`;
  const signingKey = [time.slice(0, 8), region, "s3", "aws4_request"].reduce<Buffer | string>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretKey}`,
  );
  const signature = createHmac("sha256", signingKey).update(text).digest("hex");
  return `${origin}${path}?${query}&X-Amz-Signature=${signature}`;
}

/** RFC 3986: everything but unreserved characters. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
