import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { S3Error } from "../errors.ts";
import { equalsSafely } from "./signing-key.ts";

// Signature Version 2: HMAC-SHA1 over a few lines of the request. It protects neither the body nor most headers, so it is off unless a
// deployment has clients that know nothing newer.

/** Query names that are part of what is signed. */
const SIGNED = new Set([
  "accelerate", "acl", "analytics", "cors", "defaultObjectAcl", "delete", "encryption", "inventory", "legal-hold", "lifecycle", "location",
  "logging", "metrics", "notification", "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus", "publicAccessBlock",
  "replication", "requestPayment", "response-cache-control", "response-content-disposition", "response-content-encoding",
  "response-content-language", "response-content-type", "response-expires", "restore", "retention", "select", "select-type",
  "storageClass", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website",
]); // prettier-ignore

export interface SignedByVersion2 {
  readonly method: string;
  /** Path as it was sent, with the bucket in front where the host named it. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: IncomingHttpHeaders;
  /** The line of the date: of the header, or when a presigned address ends. */
  readonly date: string;
}

/** The signature of a request. */
export function signVersion2(secret: string, request: SignedByVersion2): string {
  const { method, path, query, headers, date } = request;
  const amz = Object.entries(headers)
    .filter(([name]) => name.startsWith("x-amz-"))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, value]) =>
        `${name}:${(Array.isArray(value) ? value.join(",") : (value ?? "")).replace(/\s+/g, " ").trim()}\n`,
    );
  const parameters = query
    .filter(([name]) => SIGNED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => (value === "" ? name : `${name}=${value}`));
  const resource = parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
  const day = headers["x-amz-date"] === undefined ? date : "";
  const text = `${method}\n${String(headers["content-md5"] ?? "")}\n${headers["content-type"] ?? ""}\n${day}\n${amz.join("")}${resource}`;
  return toSignature(secret, text);
}

/** The signature of a form: over its policy. */
export function toSignature(secret: string, text: string): string {
  return createHmac("sha1", secret).update(text).digest("base64");
}

/** @throws {S3Error} SignatureDoesNotMatch */
export function compareVersion2(expected: string, signature: string, accessKey: string): void {
  if (!equalsSafely(expected, signature)) {
    throw new S3Error("SignatureDoesNotMatch", undefined, {
      details: { AWSAccessKeyId: accessKey.slice(0, 128), SignatureProvided: signature.slice(0, 200) },
    });
  }
}
