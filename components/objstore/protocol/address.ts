import { S3Error } from "../errors.ts";
import type { QueryPairs } from "./query.ts";

/** What a request is about. */
export interface Address {
  readonly bucket: string | undefined;
  readonly key: string | undefined;
  /** Decoded path as it was sent, for the signature. */
  readonly path: string;
  readonly query: QueryPairs;
  /** The bucket, where the host named it. */
  readonly hostBucket: string | undefined;
  /** Path and query as they came. */
  readonly raw: { readonly path: string; readonly query: string };
}

/**
 * Reads bucket, key and query from a request target, path style or (host below `domain`) virtual-host style.
 * Keys are opaque: `..`, `//` and control characters are part of the name, which never becomes a file name.
 */
export function parseAddress(target: string, host: string | undefined, domain: string): Address {
  const mark = target.indexOf("?");
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const path = decode(rawPath.startsWith("/") ? rawPath : readAbsolute(rawPath));
  const rawQuery = mark < 0 ? "" : target.slice(mark + 1);
  const query = parseQuery(rawQuery);
  const name = toHostName(host ?? "");
  let hostBucket: string | undefined;
  let bucket: string | undefined;
  let key: string | undefined;
  if (domain !== "" && name.endsWith(`.${domain}`)) {
    hostBucket = name.slice(0, -domain.length - 1);
    bucket = hostBucket;
    key = path.slice(1);
  } else {
    const slash = path.indexOf("/", 1);
    bucket = slash < 0 ? path.slice(1) : path.slice(1, slash);
    key = slash < 0 ? "" : path.slice(slash + 1);
  }
  if (key.length > 255 && Buffer.byteLength(key) > 1024) {
    throw new S3Error("KeyTooLongError", undefined, {
      details: { Size: Buffer.byteLength(key), MaxSizeAllowed: 1024 },
    });
  }
  return {
    bucket: bucket === "" ? undefined : bucket,
    key: key === "" ? undefined : key,
    path,
    query,
    hostBucket,
    raw: { path: rawPath, query: rawQuery },
  };
}

/** Path of an absolute target (RFC 9112 §3.2.2). `*`, for OPTIONS alone, is about the service itself. */
function readAbsolute(target: string): string {
  if (target === "*") {
    return "/";
  }
  const url = /^https?:/i.test(target) ? URL.parse(target) : null;
  if (url === null) {
    throw new S3Error("InvalidURI");
  }
  return url.pathname;
}

/** The host asked last: nearly always the same. */
let lastHost = { host: "", name: "" };

function toHostName(host: string): string {
  if (host !== lastHost.host) {
    lastHost = { host, name: host.replace(/:\d+$/, "").toLowerCase() };
  }
  return lastHost.name;
}

/** Bucket names by the rules of S3 for new buckets. */
export function isBucketName(name: string): boolean {
  return (
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) &&
    !/\.\.|\.-|-\./.test(name) &&
    !/^\d+\.\d+\.\d+\.\d+$/.test(name) &&
    !name.startsWith("xn--") &&
    !name.endsWith("-s3alias")
  );
}

function parseQuery(text: string): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let from = 0; from < text.length;) {
    const and = text.indexOf("&", from);
    const end = and < 0 ? text.length : and;
    if (end > from) {
      const equals = text.indexOf("=", from);
      const middle = equals < 0 || equals > end ? end : equals;
      pairs.push([decodeForm(text.slice(from, middle)), decodeForm(text.slice(middle + 1, end))]);
    }
    from = end + 1;
  }
  return pairs;
}

function decodeForm(text: string): string {
  return decode(text.includes("+") ? text.replaceAll("+", " ") : text);
}

function decode(text: string): string {
  if (!text.includes("%")) {
    return text;
  }
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new S3Error("InvalidURI", undefined, { cause: error });
  }
}
