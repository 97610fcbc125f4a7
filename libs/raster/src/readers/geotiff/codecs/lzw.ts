import { invalidRaster } from "../../../errors.ts";

const CLEAR = 256;
const END = 257;
const MAX_CODES = 4096;

/** LZW as TIFF 6.0 section 13 has it: codes of 9 to 12 bits, most significant bit first, early change. */
export function decodeLzw(bytes: Uint8Array, expectedBytes: number): Uint8Array {
  const output = Buffer.allocUnsafeSlow(expectedBytes);
  // Each code is a byte appended to an earlier code's string; strings are copied from where they were last written.
  const starts = new Int32Array(MAX_CODES);
  const lengths = new Int32Array(MAX_CODES);
  let next = END + 1;
  let width = 9;
  let buffer = 0;
  let bits = 0;
  let at = 0;
  let written = 0;
  let previousStart = -1;
  let previousLength = 0;
  for (;;) {
    while (bits < width && at < bytes.length) {
      buffer = ((buffer << 8) | (bytes[at] ?? 0)) & 0xff_ff_ff;
      at += 1;
      bits += 8;
    }
    if (bits < width) {
      break;
    }
    bits -= width;
    const code = (buffer >> bits) & ((1 << width) - 1);
    if (code === END) {
      break;
    }
    if (code === CLEAR) {
      next = END + 1;
      width = 9;
      previousStart = -1;
      continue;
    }
    let start: number;
    let length: number;
    if (code < CLEAR) {
      if (written >= expectedBytes) {
        break;
      }
      start = written;
      length = 1;
      output[written] = code;
    } else if (code < next) {
      start = starts[code] ?? 0;
      length = lengths[code] ?? 0;
      copy(output, start, written, length);
    } else if (code === next && previousStart >= 0) {
      start = previousStart;
      length = previousLength + 1;
      copy(output, start, written, previousLength);
      if (written + previousLength < expectedBytes) {
        output[written + previousLength] = output[previousStart] ?? 0;
      }
    } else {
      throw invalidRaster("An LZW block is damaged.");
    }
    if (previousStart >= 0 && next < MAX_CODES) {
      // The previous string and the first byte of this one stand one after the other in the output already.
      starts[next] = previousStart;
      lengths[next] = previousLength + 1;
      next += 1;
      if (next >= (1 << width) - 1 && width < 12) {
        width += 1;
      }
    }
    previousStart = written;
    previousLength = length;
    written += length;
    if (written >= expectedBytes) {
      break;
    }
  }
  if (written < expectedBytes) {
    output.fill(0, written);
    throw invalidRaster("An LZW block ends too early.");
  }
  return output;
}

/** Forwards, byte by byte: source and target may overlap. */
function copy(output: Uint8Array, from: number, to: number, length: number): void {
  const end = Math.min(to + length, output.length);
  for (let target = to, source = from; target < end; target += 1, source += 1) {
    output[target] = output[source] ?? 0;
  }
}
