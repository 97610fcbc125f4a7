import { hash } from "node:crypto";

import { encodePath, toCanonicalQuery } from "../signature/canonical-request.ts";
import { type CredentialScope, deriveSigningKey, hmacHex, toScope } from "../signature/signing-key.ts";

interface PresignOptions {
  readonly publicUrl: string;
  readonly region: string;
  readonly credential: { readonly id: string; readonly secret: string; readonly token: string | null };
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  readonly bucket: string;
  readonly key: string;
  readonly seconds: number;
  readonly query?: Readonly<Record<string, string>>;
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
  now,
}: PresignOptions): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope: CredentialScope = { accessKey: credential.id, day: time.slice(0, 8), region, service: "s3" };
  const path = encodePath(`/${bucket}/${key}`);
  const parameters = {
    ...query,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${credential.id}/${toScope(scope)}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": "host",
    ...(credential.token !== null && { "X-Amz-Security-Token": credential.token }),
  };
  const text = toCanonicalQuery(Object.entries(parameters));
  const { host } = new URL(publicUrl);
  const canonical = `${method}\n${path}\n${text}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const signing = `AWS4-HMAC-SHA256\n${time}\n${toScope(scope)}\n${hash("sha256", canonical)}`;
  const signature = hmacHex(deriveSigningKey(credential.secret, scope), signing);
  return `${publicUrl}${path}?${text}&X-Amz-Signature=${signature}`;
}
