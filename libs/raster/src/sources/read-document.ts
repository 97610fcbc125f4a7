import { RasterError } from "../errors.ts";
import { openHttpSource } from "./http-source.ts";
import type { HttpLocation } from "./source.ts";

/**
 * Reads the whole of a small document, by the rules for addresses that rasters are read by.
 * @throws {RasterError} `too-large`, and those of `Source.read`
 */
export async function readDocument(
  location: HttpLocation,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const source = openHttpSource(location, undefined, maxBytes + 1);
  try {
    const bytes = await source.read(0, maxBytes + 1, signal);
    if (bytes.length > maxBytes || (source.size ?? 0) > maxBytes) {
      throw new RasterError("too-large", `The document has more than ${maxBytes} bytes.`);
    }
    return bytes;
  } finally {
    await source.close();
  }
}
