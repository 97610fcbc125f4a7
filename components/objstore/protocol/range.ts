import { S3Error } from "../errors.ts";

export interface ByteRange {
  readonly start: number;
  /** Last byte, inclusive. */
  readonly end: number;
}

/** Reads a Range header. Undefined: the whole (no header, or one that S3 ignores). @throws {S3Error} InvalidRange */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  const [, from = "", to = ""] = match ?? [];
  if (match === null || (from === "" && to === "") || (from !== "" && to !== "" && Number(from) > Number(to))) {
    return undefined;
  }
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (start >= size || (from === "" && Number(to) === 0)) {
    throw new S3Error("InvalidRange", undefined, {
      details: { RangeRequested: header ?? "", ActualObjectSize: size },
      headers: { "content-range": `bytes */${size}` },
    });
  }
  return { start, end };
}
