import { hash } from "node:crypto";

/** What a signature covers. Header names are lower-case; `query` holds decoded pairs in any order, the signature may be among them. */
export interface SignedParts {
  readonly method: string;
  /** Decoded path, `/bucket/key`. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly signedHeaders: readonly string[];
  /** Hex SHA-256 of the body, or one of the fixed texts that stand for it. */
  readonly payloadHash: string;
}

/** Path and query of a request as they were sent. */
export interface RawTarget {
  readonly path: string;
  readonly query: string;
}

/** The canonical request if path and query were sent in their canonical form. */
export function toRawCanonicalRequest(parts: SignedParts, { path, query }: RawTarget): string {
  return toText(parts, path, query);
}

/** The canonical request of Signature Version 4 in its S3 form: the path is encoded once and never normalised. */
export function toCanonicalRequest(parts: SignedParts): string {
  const query = parts.query.filter(([name]) => name !== "X-Amz-Signature");
  return toText(parts, encodePath(parts.path), toCanonicalQuery(query));
}

function toText(parts: SignedParts, path: string, query: string): string {
  let headers = "";
  for (const name of parts.signedHeaders) {
    headers += `${name}:${toCanonicalValue(parts.headers[name])}\n`;
  }
  return `${parts.method}\n${path}\n${query}\n${headers}\n${parts.signedHeaders.join(";")}\n${parts.payloadHash}`;
}

/** Encoded pairs by name, then by value: "select=" comes before "select-type=2", though "-" is less than "=". */
export function toCanonicalQuery(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs
    .map(([name, value]) => [encodeUri(name), encodeUri(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The string to sign: algorithm, time, scope and the digest of the canonical request, text or bytes. */
export function toStringToSign(time: string, scope: string, canonicalRequest: string | Uint8Array): string {
  return `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash("sha256", canonicalRequest)}`;
}

/** Values of headers as their lines came: several of one name are joined by a comma alone, which Node.js joins by ", " or drops. */
export function readHeaderLines(rawHeaders: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const lines: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    (lines[(rawHeaders[at] ?? "").toLowerCase()] ??= []).push(rawHeaders[at + 1] ?? "");
  }
  return lines;
}

/** RFC 3986 encoding as Signature Version 4 wants it: everything but unreserved characters. */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `encodeUri` that keeps slashes. */
export function encodePath(path: string): string {
  return encodeUri(path).replaceAll("%2F", "/");
}

function toCanonicalValue(value: string | readonly string[] | undefined): string {
  if (typeof value !== "string") {
    return (value ?? []).map(toCanonicalValue).join(",");
  }
  const trimmed = value.trim();
  return trimmed.includes("  ") ? trimmed.replace(/ {2,}/g, " ") : trimmed;
}
