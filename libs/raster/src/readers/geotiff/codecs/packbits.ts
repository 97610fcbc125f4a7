import { invalidRaster } from "../../../errors.ts";

/** PackBits (TIFF 6.0 section 9). */
export function decodePackbits(bytes: Uint8Array, expectedBytes: number): Uint8Array {
  const output = Buffer.alloc(expectedBytes);
  let written = 0;
  for (let at = 0; at < bytes.length && written < expectedBytes;) {
    const head = ((bytes[at] ?? 0) << 24) >> 24;
    at += 1;
    if (head >= 0) {
      const literal = bytes.subarray(at, at + Math.min(head + 1, expectedBytes - written));
      output.set(literal, written);
      written += literal.length;
      at += head + 1;
    } else if (head !== -128) {
      output.fill(bytes[at] ?? 0, written, Math.min(written + 1 - head, expectedBytes));
      written += 1 - head;
      at += 1;
    }
  }
  if (written < expectedBytes) {
    throw invalidRaster("A PackBits block ends too early.");
  }
  return output;
}
