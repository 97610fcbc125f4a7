import { S3Error } from "../errors.ts";

/** What a request is about. */
export interface Address {
  readonly bucket: string | undefined;
  readonly key: string | undefined;
  /** Decoded path as it was sent, for the signature. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/**
 * Reads bucket, key and query from a request target, path style or (host below `domain`) virtual-host style.
 * Keys are opaque: `..`, `//` and control characters are part of the name, which never becomes a file name.
 */
export function parseAddress(target: string, host: string | undefined, domain: string): Address {
  const mark = target.indexOf("?");
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const path = decode(rawPath.startsWith("/") ? rawPath : new URL(rawPath).pathname);
  const query = mark < 0 ? [] : parseQuery(target.slice(mark + 1));
  const name = host?.replace(/:\d+$/, "").toLowerCase() ?? "";
  let bucket: string | undefined;
  let key: string | undefined;
  if (domain !== "" && name.endsWith(`.${domain}`)) {
    bucket = name.slice(0, -domain.length - 1);
    key = path.slice(1);
  } else {
    const slash = path.indexOf("/", 1);
    bucket = slash < 0 ? path.slice(1) : path.slice(1, slash);
    key = slash < 0 ? "" : path.slice(slash + 1);
  }
  if (Buffer.byteLength(key) > 1024) {
    throw new S3Error("KeyTooLongError", undefined, {
      details: { Size: Buffer.byteLength(key), MaxSizeAllowed: 1024 },
    });
  }
  return { bucket: bucket === "" ? undefined : bucket, key: key === "" ? undefined : key, path, query };
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
  return text
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decode(name.replaceAll("+", " ")), decode(value.replaceAll("+", " "))] as const;
    });
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
