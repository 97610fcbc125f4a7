import { createHash, createHmac } from "node:crypto";

interface PresignOptions {
  /** `https://objstore.example.org` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly now: Date;
}

/** Seconds that a client has to begin reading. */
const EXPIRES_SECONDS = 600;

/** A URL that lets whoever has it GET one object for ten minutes (AWS Signature Version 4, query parameters). */
export function presignGet(options: PresignOptions): string {
  const { endpoint, bucket, key, region, accessKey, secretKey, now } = options;
  const url = new URL(`${endpoint.replace(/\/+$/, "")}/${bucket}/${key}`);
  const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const query = Object.entries({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${accessKey}/${scope}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(EXPIRES_SECONDS),
    "X-Amz-SignedHeaders": "host",
  })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  const canonical = ["GET", url.pathname, query, `host:${url.host}\n`, "host", "UNSIGNED-PAYLOAD"].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const signingKey = [day, region, "s3", "aws4_request"].reduce<Buffer | string>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretKey}`,
  );
  const signature = createHmac("sha256", signingKey)
    .update(["AWS4-HMAC-SHA256", time, scope, digest].join("\n"))
    .digest("hex");
  return `${url.href}?${query}&X-Amz-Signature=${signature}`;
}
