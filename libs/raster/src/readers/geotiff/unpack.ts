import { RasterError } from "../../errors.ts";
import { type Samples, createSamples } from "../raster.ts";
import type { Layout } from "./layout.ts";

type Integers = Uint8Array | Uint16Array | Uint32Array;

/**
 * Decompressed bytes of a tile or strip → samples, written into one array a band from row `firstRow` on:
 * undoes the predictor, the byte order, bit packing and interleaving.
 */
export function unpackPiece(
  bytes: Uint8Array,
  layout: Layout,
  rows: number,
  target: readonly Samples[],
  firstRow: number,
): void {
  const samples = target.length;
  const { blockWidth, bits, isComplex } = layout;
  const perRow = blockWidth * samples * (isComplex ? 2 : 1);
  if (bits % 8 !== 0) {
    unpackBits(bytes, layout, rows, target, firstRow);
    return;
  }
  const isEncoded = layout.compression === 7 || layout.compression === 34_887 || layout.compression === 50_001;
  const aligned = align(bytes, bits / 8);
  if (layout.predictor === 3 && !isEncoded) {
    undoFloatPredictor(aligned, perRow, samples * (isComplex ? 2 : 1), rows, bits / 8);
  } else {
    if (!layout.isLittleEndian && bits > 8 && !isEncoded) {
      swapBytes(aligned, bits);
    }
    if (layout.predictor === 2 && !isEncoded) {
      undoHorizontalPredictor(aligned, perRow, samples * (isComplex ? 2 : 1), rows, bits);
    }
  }
  spread(toNumbers(aligned, layout), layout, rows, target, firstRow);
}

/** Typed arrays need their own alignment. */
function align(bytes: Uint8Array, width: number): Uint8Array {
  return bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
}

function integersOf(bytes: Uint8Array, bits: number): Integers {
  return bits === 8
    ? bytes
    : bits === 16
      ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
      : new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

/** Each number is the difference to the one before in its row (TIFF 6.0 section 14); additions wrap. */
function undoHorizontalPredictor(bytes: Uint8Array, perRow: number, stride: number, rows: number, bits: number): void {
  if (bits === 64) {
    const values = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    for (let row = 0; row < rows; row += 1) {
      for (let at = row * perRow + stride; at < (row + 1) * perRow; at += 1) {
        values[at] = (values[at] ?? 0n) + (values[at - stride] ?? 0n);
      }
    }
    return;
  }
  const values = integersOf(bytes, bits);
  for (let row = 0; row < rows; row += 1) {
    const end = (row + 1) * perRow;
    if (stride === 1) {
      let value = 0;
      for (let at = row * perRow; at < end; at += 1) {
        value = (value + values[at]!) | 0;
        values[at] = value;
      }
    } else {
      for (let at = row * perRow + stride; at < end; at += 1) {
        values[at] = values[at]! + values[at - stride]!;
      }
    }
  }
}

/** Bytes of a row are sorted by significance, most significant first, and then differenced (TIFF Technical Note 3). */
function undoFloatPredictor(bytes: Uint8Array, perRow: number, stride: number, rows: number, width: number): void {
  const rowBytes = perRow * width;
  const row = new Uint8Array(rowBytes);
  for (let start = 0; start < rows * rowBytes; start += rowBytes) {
    for (let at = start + stride; at < start + rowBytes; at += 1) {
      bytes[at] = bytes[at]! + bytes[at - stride]!;
    }
    row.set(bytes.subarray(start, start + rowBytes));
    for (let value = 0; value < perRow; value += 1) {
      for (let byte = 0; byte < width; byte += 1) {
        bytes[start + value * width + byte] = row[(width - 1 - byte) * perRow + value]!;
      }
    }
  }
}

function swapBytes(bytes: Uint8Array, bits: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bits === 16) {
    buffer.swap16();
  } else if (bits === 32) {
    buffer.swap32();
  } else if (bits === 64) {
    buffer.swap64();
  } else {
    throw new RasterError("unsupported", `TIFF samples of ${bits} bits are not supported.`);
  }
}

function toNumbers(bytes: Uint8Array, { bits, isFloat, isSigned }: Layout): Samples {
  const count = (bytes.length * 8) / bits;
  const { buffer, byteOffset } = bytes;
  if (isFloat) {
    return bits === 16
      ? Float32Array.from(new Float16Array(buffer, byteOffset, count))
      : bits === 32
        ? new Float32Array(buffer, byteOffset, count)
        : new Float64Array(buffer, byteOffset, count);
  }
  switch (bits) {
    case 8:
      return isSigned ? new Int8Array(buffer, byteOffset, count) : bytes;
    case 16:
      return isSigned ? new Int16Array(buffer, byteOffset, count) : new Uint16Array(buffer, byteOffset, count);
    case 32:
      return isSigned ? new Int32Array(buffer, byteOffset, count) : new Uint32Array(buffer, byteOffset, count);
    case 64:
      return Float64Array.from(
        isSigned ? new BigInt64Array(buffer, byteOffset, count) : new BigUint64Array(buffer, byteOffset, count),
        Number,
      );
    default:
      throw new RasterError("unsupported", `TIFF samples of ${bits} bits are not supported.`);
  }
}

/** From pixels next to each other to one array a band. */
function spread(
  values: Samples,
  { blockWidth, isComplex }: Layout,
  rows: number,
  target: readonly Samples[],
  firstRow: number,
): void {
  const samples = target.length;
  const pixels = blockWidth * rows;
  const start = firstRow * blockWidth;
  for (const [sample, plane] of target.entries()) {
    if (isComplex) {
      for (let pixel = 0; pixel < pixels; pixel += 1) {
        const at = (pixel * samples + sample) * 2;
        plane[start + pixel] = Math.hypot(values[at]!, values[at + 1]!);
      }
    } else if (samples === 1) {
      plane.set(values.subarray(0, pixels), start);
    } else {
      for (let pixel = 0, at = sample; pixel < pixels; pixel += 1, at += samples) {
        plane[start + pixel] = values[at]!;
      }
    }
  }
}

/** Samples of 1 to 31 bits that are no whole bytes; rows begin at a byte. */
function unpackBits(
  bytes: Uint8Array,
  { blockWidth, bits }: Layout,
  rows: number,
  target: readonly Samples[],
  firstRow: number,
): void {
  const samples = target.length;
  const rowBytes = Math.ceil((blockWidth * samples * bits) / 8);
  for (let row = 0; row < rows; row += 1) {
    let at = row * rowBytes * 8;
    for (let column = 0; column < blockWidth; column += 1) {
      for (let sample = 0; sample < samples; sample += 1) {
        let value = 0;
        for (let bit = 0; bit < bits; bit += 1, at += 1) {
          value = value * 2 + ((bytes[at >> 3]! >> (7 - (at & 7))) & 1);
        }
        target[sample]![(firstRow + row) * blockWidth + column] = value;
      }
    }
  }
}

/** The arrays of a block before anything is written. */
export function createBlock({ blockWidth, blockHeight, samples, isPlanar, type }: Layout): Samples[] {
  return Array.from({ length: isPlanar ? 1 : samples }, () => createSamples(type, blockWidth * blockHeight));
}
