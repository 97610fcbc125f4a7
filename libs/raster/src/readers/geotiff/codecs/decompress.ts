import { promisify } from "node:util";
import { inflate, zstdDecompress } from "node:zlib";

import { RasterError, invalidRaster } from "../../../errors.ts";
import { createSamples } from "../../raster.ts";
import type { Layout } from "../layout.ts";
import { decodeJpeg, decodeWebp } from "./jpeg.ts";
import { decodeLerc } from "./lerc.ts";
import { decodeLzw } from "./lzw.ts";
import { decodePackbits } from "./packbits.ts";

const inflateAsync = promisify(inflate);
const zstdAsync = promisify(zstdDecompress);

/** Names of TIFF compressions that are read. */
export const COMPRESSIONS: Readonly<Record<number, string>> = {
  1: "none",
  5: "lzw",
  7: "jpeg",
  8: "deflate",
  32_773: "packbits",
  32_946: "deflate",
  34_887: "lerc",
  50_000: "zstd",
  50_001: "webp",
};

/**
 * A tile or strip as stored → its samples as laid out, exactly `expectedBytes`. Never makes more than that of it.
 * @throws {RasterError} `invalid-raster` for damaged data, `unsupported` for compressions that nobody reads
 */
export async function decompress(
  bytes: Uint8Array,
  layout: Layout,
  rows: number,
  expectedBytes: number,
): Promise<Uint8Array> {
  const samples = layout.isPlanar ? 1 : layout.samples;
  const shape = { width: layout.blockWidth, height: rows, samples };
  switch (COMPRESSIONS[layout.compression]) {
    case "none":
      // A copy: what follows works in place, and the bytes may be kept elsewhere.
      return new Uint8Array(checkLength(bytes, expectedBytes));
    case "deflate":
      return unpackInto(inflateAsync, bytes, expectedBytes);
    case "zstd":
      return unpackInto(zstdAsync, bytes, expectedBytes);
    case "lzw":
      return decodeLzw(bytes, expectedBytes);
    case "packbits":
      return decodePackbits(bytes, expectedBytes);
    case "jpeg":
      checkBytes(layout);
      return decodeJpeg(bytes, {
        ...shape,
        isYcbcr: layout.photometric === 6,
        ...(layout.jpegTables !== undefined && { tables: layout.jpegTables }),
      });
    case "webp":
      checkBytes(layout);
      return decodeWebp(bytes, shape);
    case "lerc": {
      const raw = layout.lercWrapper === 0 ? bytes : await unwrapLerc(bytes, layout.lercWrapper, expectedBytes);
      return decodeLerc(raw, { ...shape, create: (length) => createSamples(layout.type, length) });
    }
    default:
      throw new RasterError("unsupported", `TIFF compression ${layout.compression} is not supported.`);
  }
}

async function unpackInto(
  unpack: typeof inflateAsync | typeof zstdAsync,
  bytes: Uint8Array,
  expectedBytes: number,
): Promise<Uint8Array> {
  try {
    // Some writers pad the last strip to full height: a little more than expected is cut, a bomb is refused.
    const maxOutputLength = expectedBytes * 2 + 65_536;
    return checkLength(
      await unpack(bytes, { maxOutputLength, chunkSize: Math.max(1024, expectedBytes) }),
      expectedBytes,
    );
  } catch (error) {
    throw error instanceof RasterError ? error : invalidRaster("A compressed block is damaged.", error);
  }
}

async function unwrapLerc(bytes: Uint8Array, wrapper: number, expectedBytes: number): Promise<Uint8Array> {
  try {
    const options = { maxOutputLength: expectedBytes * 2 + 65_536 };
    return await (wrapper === 1 ? inflateAsync(bytes, options) : zstdAsync(bytes, options));
  } catch (error) {
    throw invalidRaster("A compressed block is damaged.", error);
  }
}

function checkLength(bytes: Uint8Array, expectedBytes: number): Uint8Array {
  if (bytes.length < expectedBytes) {
    throw invalidRaster(`A block has ${bytes.length} bytes instead of ${expectedBytes}.`);
  }
  return bytes.length === expectedBytes ? bytes : bytes.subarray(0, expectedBytes);
}

function checkBytes({ bits, isComplex }: Layout): void {
  if (bits !== 8 || isComplex) {
    throw new RasterError("unsupported", "JPEG and WebP blocks are read with 8 bits a sample.");
  }
}
