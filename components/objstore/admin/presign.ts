import { hash } from "node:crypto";

import { encodePath, toCanonicalQuery } from "../signature/canonical-request.ts";
import { type CredentialScope, deriveSigningKey, hmacHex, toScope } from "../signature/signing-key.ts";

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
  credential,
  method,
  bucket,
  key,
  seconds,
  query = {},
  headers = {},
  now,
}: PresignOptions): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope: CredentialScope = { accessKey: credential.id, day: time.slice(0, 8), region, service: "s3" };
  const path = encodePath(key === undefined ? `/${bucket}` : `/${bucket}/${key}`);
  const { host } = new URL(publicUrl);
  const signed = Object.entries({ ...headers, host }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const parameters = {
    ...query,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${credential.id}/${toScope(scope)}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": names,
    ...(credential.token !== null && { "X-Amz-Security-Token": credential.token }),
  };
  const text = toCanonicalQuery(Object.entries(parameters));
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replace(/ {2,}/g, " ")}\n`).join("");
  const canonical = `${method}\n${path}\n${text}\n${lines}\n${names}\nUNSIGNED-PAYLOAD`;
  const signing = `AWS4-HMAC-SHA256\n${time}\n${toScope(scope)}\n${hash("sha256", canonical)}`;
  const signature = hmacHex(deriveSigningKey(credential.secret, scope), signing);
  return `${publicUrl}${path}?${text}&X-Amz-Signature=${signature}`;
}
