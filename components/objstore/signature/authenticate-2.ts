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
import { compareVersion2, signVersion2 } from "./version-2.ts";

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
  const signed = { method, path: toSignedPath(request), query, headers, date: request.headers.date ?? "" };
  compareVersion2(signVersion2(credential.secret, signed), signature, accessKey);
  return { accessKey, credential, payload: { kind: "unsigned" }, authType: "REST-HEADER" };
}

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
  const signed = { method, path: toSignedPath(request), query, headers, date: expires };
  compareVersion2(signVersion2(credential.secret, signed), signature, accessKey);
  return { accessKey, credential, payload: { kind: "unsigned" }, authType: "REST-QUERY-STRING" };
}

function toSignedPath({ raw, path, hostBucket }: SignedRequest): string {
  return `${hostBucket === undefined ? "" : `/${hostBucket}`}${raw?.path ?? path}`;
}
