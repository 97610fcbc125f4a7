import { RegistryError } from "../errors.ts";

/** Positions of the first and the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range of a `Range` field (RFC 9110 §14.2). Undefined for a field that is to be ignored: several ranges, another unit.
 * @throws {RegistryError} RANGE_INVALID when it lies outside
 */
export function parseRange(field: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(field ?? "");
  if (match === null || (match[1] === "" && match[2] === "")) {
    return undefined;
  }
  const [, first = "", last = ""] = match;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) {
    return undefined;
  }
  if (start >= size) {
    throw new RegistryError("RANGE_INVALID", `The range lies outside of the ${size} bytes.`, {
      headers: { "content-range": `bytes */${size}` },
    });
  }
  return { start, end };
}

/**
 * The positions that a chunk says it has: `Content-Range: 0-99`, as the specification writes it, or `bytes 0-99/200`.
 * @throws {RegistryError} BLOB_UPLOAD_INVALID when it is neither
 */
export function parseContentRange(field: string | undefined): ByteRange | undefined {
  if (field === undefined) {
    return undefined;
  }
  const match = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d{1,15}|\*))?$/.exec(field);
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || end < start) {
    throw new RegistryError("BLOB_UPLOAD_INVALID", "Content-Range is invalid; it must be <start>-<end>.", {
      status: 416,
    });
  }
  return { start, end };
}
