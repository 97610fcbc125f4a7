import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { S3Error } from "../errors.ts";
import {
  type AuthenticateDeps,
  type Authenticated,
  type Credential,
  MAXIMUM_EXPIRES,
  MAXIMUM_SKEW,
  type SignedRequest,
  checkToken,
  findValid,
  parseTime,
  single,
} from "./credential.ts";
import { equalsSafely } from "./signing-key.ts";

// Signature Version 2: HMAC-SHA1 over a few lines of the request. It protects neither the body nor most headers. In the Authorization
// header it is off unless a deployment has clients that know nothing newer. Presigned addresses and forms are always accepted: boto3 and
// the aws command make them for us-east-1 by default, and they end within a week.

/** Query names that are part of what is signed. */
const SIGNED = new Set([
  "accelerate", "acl", "analytics", "cors", "defaultObjectAcl", "delete", "encryption", "inventory", "legal-hold", "lifecycle", "location",
  "logging", "metrics", "notification", "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus", "publicAccessBlock",
  "replication", "requestPayment", "response-cache-control", "response-content-disposition", "response-content-encoding",
  "response-content-language", "response-content-type", "response-expires", "restore", "retention", "select", "select-type",
  "storageClass", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website",
]); // prettier-ignore

/** Verifies Signature Version 2 in the Authorization header. */
export function verifyHeader2<C extends Credential>(
  request: SignedRequest,
  authorization: string,
  deps: AuthenticateDeps<C>,
): Authenticated<C> {
  const [, accessKey, signature] = /^AWS ([^:]+):(\S+)$/.exec(authorization) ?? [];
  if (accessKey === undefined || signature === undefined) {
    throw new S3Error("InvalidArgument", "Authorization header is invalid: it must be AWS <key>:<signature>.");
  }
  const date = single(request.headers["x-amz-date"]) ?? request.headers.date ?? "";
  const at = parseTime(date) ?? Date.parse(date);
  if (Number.isNaN(at) || at <= 0) {
    throw new S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header");
  }
  if (Math.abs(deps.now() - at) > MAXIMUM_SKEW) {
    throw new S3Error("RequestTimeTooSkewed");
  }
  const credential = findValid(accessKey, deps);
  checkToken(credential, single(request.headers["x-amz-security-token"]));
  const { method, query, headers } = request;
  const signed = { method, query, headers, date: request.headers.date ?? "" };
  compareRequest(request, credential, signed, { signature, accessKey });
  return { accessKey, credential, payload: { kind: "unsigned" }, authType: "REST-HEADER" };
}

/** Verifies Signature Version 2 in the query of a presigned address. */
export function verifyQuery2<C extends Credential>(
  request: SignedRequest,
  deps: AuthenticateDeps<C>,
): Authenticated<C> {
  const { method, query, headers, parameters } = request;
  const accessKey = parameters.get("AWSAccessKeyId") ?? "";
  const expires = parameters.get("Expires") ?? "";
  const signature = parameters.get("Signature") ?? "";
  if (!/^\d{1,12}$/.test(expires) || signature === "") {
    throw new S3Error("AccessDenied", "A presigned address needs AWSAccessKeyId, Expires and Signature.");
  }
  if (deps.now() > Number(expires) * 1000) {
    throw new S3Error("AccessDenied", "Request has expired.");
  }
  if (Number(expires) * 1000 - deps.now() > MAXIMUM_EXPIRES * 1000) {
    throw new S3Error("AccessDenied", "Expires must be at most a week away.");
  }
  const credential = findValid(accessKey, deps);
  checkToken(credential, parameters.get("x-amz-security-token"));
  const signed = { method, query, headers, date: expires };
  compareRequest(request, credential, signed, { signature, accessKey });
  return { accessKey, credential, payload: { kind: "unsigned" }, authType: "REST-QUERY-STRING" };
}

function compareRequest(
  request: SignedRequest,
  { secret }: Credential,
  signed: Omit<SignedByVersion2, "path">,
  { signature, accessKey }: { readonly signature: string; readonly accessKey: string },
): void {
  const path = toSignedPath(request);
  // Clients sign `/bucket/` and send `/bucket`.
  if (/^\/[^/]+$/.test(path) && equalsSafely(signVersion2(secret, { ...signed, path: `${path}/` }), signature)) {
    return;
  }
  compareVersion2(signVersion2(secret, { ...signed, path }), signature, accessKey);
}

function toSignedPath({ raw, path, hostBucket }: SignedRequest): string {
  return `${hostBucket === undefined ? "" : `/${hostBucket}`}${raw?.path ?? path}`;
}

interface SignedByVersion2 {
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
