import type { IncomingHttpHeaders } from "node:http";

import { S3Error } from "../errors.ts";
import {
  type RawTarget,
  type SignedParts,
  readHeaderLines,
  toCanonicalRequest,
  toRawCanonicalRequest,
  toStringToSign,
} from "./canonical-request.ts";
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
import { type Payload, toPayload } from "./payload.ts";
import { type CredentialScope, type HmacKey, equalsSafely, hmacHex, toScope } from "./signing-key.ts";
import { compareVersion2, toSignature, verifyHeader2, verifyQuery2 } from "./verify-version-2.ts";

/**
 * Verifies Signature Version 4 in the Authorization header or in the query.
 * Undefined when the request carries no signature at all.
 */
export function authenticate<C extends Credential>(
  request: SignedRequest,
  deps: AuthenticateDeps<C>,
): Authenticated<C> | undefined {
  return withEitherSecret(deps, (either) => verifyRequest(request, either));
}

/** A signature that does not match is looked at again with the other secret, where the key has two at the moment. */
function withEitherSecret<C extends Credential, T>(
  deps: AuthenticateDeps<C>,
  verify: (deps: AuthenticateDeps<C>) => T,
): T {
  const { findOther, findCredential } = deps;
  if (findOther === undefined) {
    return verify(deps);
  }
  try {
    return verify(deps);
  } catch (error) {
    if (error instanceof S3Error && error.code === "SignatureDoesNotMatch") {
      return verify({ ...deps, findCredential: (id) => findOther(id) ?? findCredential(id) });
    }
    throw error;
  }
}

function verifyRequest<C extends Credential>(
  request: SignedRequest,
  deps: AuthenticateDeps<C>,
): Authenticated<C> | undefined {
  const { authorization } = request.headers;
  const { parameters } = request;
  const inQuery = parameters.has("X-Amz-Algorithm") || parameters.has("X-Amz-Signature");
  if (authorization !== undefined) {
    if (inQuery) {
      throw new S3Error("InvalidArgument", "Only one authentication mechanism is allowed: header or query string.");
    }
    return verifyHeader(request, authorization, deps);
  }
  if (inQuery) {
    return verifyQuery(request, deps);
  }
  return parameters.has("AWSAccessKeyId") ? verifyQuery2(request, deps) : undefined;
}

function verifyHeader<C extends Credential>(
  request: SignedRequest,
  authorization: string,
  deps: AuthenticateDeps<C>,
): Authenticated<C> {
  if (authorization.startsWith("AWS ") && deps.version2 === true) {
    return verifyHeader2(request, authorization, deps);
  }
  if (!authorization.startsWith("AWS4-HMAC-SHA256")) {
    throw new S3Error(
      "InvalidRequest",
      "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
    );
  }
  const fields = new Map(
    authorization
      .slice("AWS4-HMAC-SHA256".length)
      .split(",")
      .map((field) => {
        const at = field.indexOf("=");
        return [field.slice(0, at).trim(), field.slice(at + 1).trim()] as const;
      }),
  );
  const scope = deps.keys.readScope(fields.get("Credential") ?? "");
  const signature = fields.get("Signature");
  const signedHeaders = fields.get("SignedHeaders")?.split(";");
  if (scope === undefined || signature === undefined || signedHeaders === undefined) {
    throw new S3Error(
      "AuthorizationHeaderMalformed",
      "The authorization header is malformed; it needs Credential=<key>/<day>/<region>/s3/aws4_request, SignedHeaders and Signature.",
    );
  }
  const { time, at } = readTime(request);
  checkScope(scope, time, deps.region, "AuthorizationHeaderMalformed");
  if (Math.abs(deps.now() - at) > MAXIMUM_SKEW) {
    throw new S3Error("RequestTimeTooSkewed", undefined, {
      details: {
        RequestTime: time,
        ServerTime: new Date(deps.now()).toISOString(),
        MaxAllowedSkewMilliseconds: MAXIMUM_SKEW,
      },
    });
  }
  const credential = findValid(scope.accessKey, deps);
  checkToken(credential, single(request.headers["x-amz-security-token"]));
  checkSignedHeaders(request.headers, signedHeaders);
  const payloadHash = single(request.headers["x-amz-content-sha256"]);
  const key = deps.keys.get(credential.secret, scope);
  // Read first: a malformed value is a better answer than a signature that does not match.
  const payload = toPayload(payloadHash, { key, time, scope: toScope(scope), seed: signature });
  const { method, path, query, headers, raw, rawHeaders } = request;
  const parts = { method, path, query, headers, signedHeaders, payloadHash: payloadHash ?? "" };
  compareSignature({ parts, raw, rawHeaders }, { time, scope, key, signature });
  return { accessKey: scope.accessKey, credential, payload, authType: "REST-HEADER" };
}

function verifyQuery<C extends Credential>(request: SignedRequest, deps: AuthenticateDeps<C>): Authenticated<C> {
  const { parameters } = request;
  const read = (name: string) => {
    const value = parameters.get(name);
    if (value === undefined) {
      throw new S3Error(
        "AuthorizationQueryParametersError",
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
      );
    }
    return value;
  };
  if (read("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") {
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Algorithm only supports AWS4-HMAC-SHA256.");
  }
  const scope = deps.keys.readScope(read("X-Amz-Credential"));
  const signature = read("X-Amz-Signature");
  const signedHeaders = read("X-Amz-SignedHeaders").split(";");
  const time = read("X-Amz-Date");
  const at = parseTime(time);
  const expires = Number(read("X-Amz-Expires"));
  if (scope === undefined) {
    throw new S3Error("AuthorizationQueryParametersError", "Error parsing the X-Amz-Credential parameter.");
  }
  if (at === undefined) {
    throw new S3Error(
      "AuthorizationQueryParametersError",
      "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\".",
    );
  }
  if (!Number.isInteger(expires) || expires < 0 || expires > MAXIMUM_EXPIRES) {
    throw new S3Error("AccessDenied", "X-Amz-Expires must be a number of seconds from 0 to 604800 (a week).");
  }
  checkScope(scope, time, deps.region, "AuthorizationQueryParametersError");
  if (at - MAXIMUM_SKEW > deps.now()) {
    throw new S3Error("AccessDenied", "Request is not valid yet.");
  }
  if (deps.now() > at + expires * 1000) {
    throw new S3Error("AccessDenied", "Request has expired.", {
      details: { "X-Amz-Expires": expires, Expires: new Date(at + expires * 1000).toISOString() },
    });
  }
  const credential = findValid(scope.accessKey, deps);
  checkToken(credential, parameters.get("X-Amz-Security-Token"));
  checkSignedHeaders(request.headers, signedHeaders);
  const key = deps.keys.get(credential.secret, scope);
  const payloadHash = single(request.headers["x-amz-content-sha256"]) ?? parameters.get("X-Amz-Content-Sha256");
  const { method, path, query, headers, raw, rawHeaders } = request;
  const parts = { method, path, query, headers, signedHeaders, payloadHash: payloadHash ?? "UNSIGNED-PAYLOAD" };
  const unsigned = raw && { path: raw.path, query: withoutSignature(raw.query, signature) };
  compareSignature({ parts, raw: unsigned, rawHeaders }, { time, scope, key, signature });
  const payload: Payload =
    payloadHash === undefined
      ? { kind: "unsigned" }
      : toPayload(payloadHash, { key, time, scope: toScope(scope), seed: signature });
  return { accessKey: scope.accessKey, credential, payload, authType: "REST-QUERY-STRING" };
}

/**
 * Verifies the signature of a form: an HMAC over its `policy` field, Base64 as it came.
 * Undefined when the form carries none.
 */
export function authenticateForm<C extends Credential>(
  form: ReadonlyMap<string, string>,
  deps: AuthenticateDeps<C>,
): C | undefined {
  return withEitherSecret(deps, (either) => verifyForm(form, either));
}

function verifyForm<C extends Credential>(form: ReadonlyMap<string, string>, deps: AuthenticateDeps<C>): C | undefined {
  const policy = form.get("policy");
  const signature = form.get("x-amz-signature");
  const key2 = form.get("awsaccesskeyid");
  if (policy === undefined && signature === undefined) {
    return undefined;
  }
  if (key2 !== undefined && policy !== undefined && form.has("signature")) {
    const credential = findValid(key2, deps);
    checkToken(credential, form.get("x-amz-security-token"));
    compareVersion2(toSignature(credential.secret, policy), form.get("signature") ?? "", key2);
    return credential;
  }
  const scope = deps.keys.readScope(form.get("x-amz-credential") ?? "");
  const time = form.get("x-amz-date") ?? "";
  if (form.get("x-amz-algorithm") !== "AWS4-HMAC-SHA256" || policy === undefined || signature === undefined) {
    throw new S3Error(
      "InvalidArgument",
      "A signed form needs the fields policy, x-amz-algorithm (AWS4-HMAC-SHA256), x-amz-credential, x-amz-date and x-amz-signature.",
    );
  }
  if (scope === undefined || parseTime(time) === undefined) {
    throw new S3Error(
      "InvalidArgument",
      "x-amz-credential must be <key>/<day>/<region>/s3/aws4_request and x-amz-date such as 20300131T120000Z.",
    );
  }
  checkScope(scope, time, deps.region, "AuthorizationQueryParametersError");
  const credential = findValid(scope.accessKey, deps);
  checkToken(credential, form.get("x-amz-security-token"));
  const expected = hmacHex(deps.keys.get(credential.secret, scope), policy);
  if (!equalsSafely(expected, signature)) {
    throw new S3Error("SignatureDoesNotMatch", undefined, {
      details: { AWSAccessKeyId: scope.accessKey, SignatureProvided: signature.slice(0, 200) },
    });
  }
  return credential;
}

interface Claimed {
  readonly time: string;
  readonly scope: CredentialScope;
  readonly key: HmacKey;
  readonly signature: string;
}

interface Sent {
  readonly parts: SignedParts;
  readonly raw: RawTarget | undefined;
  readonly rawHeaders: readonly string[] | undefined;
}

function compareSignature({ parts, raw, rawHeaders }: Sent, { time, scope, key, signature }: Claimed): void {
  const sign = (request: string | Uint8Array) => toStringToSign(time, toScope(scope), request);
  const isSigned = (request: string | Uint8Array) => equalsSafely(hmacHex(key, sign(request)), signature);
  // Most clients send path and query as they signed them, and each header once: then there is nothing to put together again.
  if (raw !== undefined && isSigned(toRawCanonicalRequest(parts, raw))) {
    return;
  }
  const lines = rawHeaders === undefined ? parts : { ...parts, headers: readHeaderLines(rawHeaders) };
  const canonicalRequest = toCanonicalRequest(lines);
  const all = [
    canonicalRequest,
    ...(rawHeaders === undefined ? [] : [toCanonicalRequest(parts)]),
    ...(rawHeaders === undefined || raw === undefined ? [] : [toRawCanonicalRequest(lines, raw)]),
  ];
  // Bytes of headers are read as Latin-1. Clients sign the bytes that they send, or the text of which these are the Latin-1 form.
  if (!all.some((text) => isSigned(Buffer.from(text, "latin1")) || isSigned(text))) {
    throw new S3Error("SignatureDoesNotMatch", undefined, {
      details: {
        AWSAccessKeyId: scope.accessKey,
        StringToSign: sign(Buffer.from(canonicalRequest, "latin1")),
        SignatureProvided: signature.slice(0, 200),
        CanonicalRequest: canonicalRequest,
      },
    });
  }
}

/** Presigned addresses have their signature last, or among the other parameters. */
function withoutSignature(query: string, signature: string): string {
  const last = `&X-Amz-Signature=${signature}`;
  if (query.endsWith(last) && query.indexOf("X-Amz-Signature=") > query.length - last.length) {
    return query.slice(0, -last.length);
  }
  return query.replace(/(?:^|&)X-Amz-Signature=[^&]*/, "").replace(/^&/, "");
}

function checkScope(
  { day, region, service }: CredentialScope,
  time: string,
  expected: string,
  code: "AuthorizationHeaderMalformed" | "AuthorizationQueryParametersError",
): void {
  // IAM and STS have no regions of their own; clients name any.
  const isGlobal = service === "iam" || service === "sts";
  if (service !== "s3" && !isGlobal) {
    throw new S3Error(code, `The credential is for the service "${service}"; this is s3.`);
  }
  if (!time.startsWith(day)) {
    throw new S3Error(code, `The day of the credential, ${day}, is not the day of the request, ${time.slice(0, 8)}.`);
  }
  if (region !== expected && !isGlobal) {
    throw new S3Error(code, `The region '${region}' is wrong; expecting '${expected}'`, {
      details: { Region: expected },
      headers: { "x-amz-bucket-region": expected },
    });
  }
}

/** `host` and every `x-amz-…` header that was sent must be signed, else a man in the middle could add them. */
function checkSignedHeaders(headers: IncomingHttpHeaders, signed: readonly string[]): void {
  const missing = signed.includes("host") ? [] : ["host"];
  for (const name in headers) {
    if (name.startsWith("x-amz-") && name !== "x-amz-content-sha256" && !signed.includes(name)) {
      missing.push(name);
    }
  }
  if (missing.length > 0) {
    throw new S3Error("AccessDenied", "There were headers present in the request which were not signed", {
      details: { HeadersNotSigned: missing.join(", ") },
    });
  }
}

function readTime({ headers }: SignedRequest): { time: string; at: number } {
  const text = single(headers["x-amz-date"]);
  const at = text === undefined ? undefined : parseTime(text);
  if (text !== undefined && at !== undefined) {
    return { time: text, at };
  }
  const date = Date.parse(headers.date ?? "");
  if (text === undefined && !Number.isNaN(date)) {
    return { time: `${new Date(date).toISOString().replace(/[-:]|\.\d+/g, "")}`, at: date };
  }
  throw new S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header");
}
