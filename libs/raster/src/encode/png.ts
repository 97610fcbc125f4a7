import { promisify } from "node:util";
import { constants, crc32, deflate, deflateSync } from "node:zlib";

import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { Image } from "../render/render-image.ts";

const deflateAsync = promisify(deflate);

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** Colour types by channels (PNG, table 11.1). */
const COLOR_TYPES = { 1: 0, 2: 4, 3: 2, 4: 6 } as const;
const INDEXED = 3;
const FILTER_SUB = 1;
const FILTER_PAETH = 4;
/** Larger pictures are compressed beside this thread, so that it hears of cancellation. */
const MAX_INLINE_BYTES = 1024 * 1024;

type Pixels = Pick<Image, "width" | "height" | "channels" | "data" | "palette">;

/**
 * A PNG of 8 bits a channel, or of a palette. Own rather than by a general library: satellite pictures are noise to a search for
 * repeated strings. Differences to neighbours with a search for runs only take less time, and half of the bytes at full resolution.
 */
export async function encodePng(image: Pixels, memory: Memory = OWN_MEMORY): Promise<Uint8Array> {
  const { width, height, channels, palette } = image;
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, palette === undefined ? COLOR_TYPES[channels] : INDEXED);
  const rows = palette === undefined ? filterRows(image, memory) : copyRows(image, memory);
  const options = {
    // Values of a palette repeat, differences rarely do.
    ...(palette === undefined ? { level: 1, strategy: constants.Z_RLE } : { level: 2 }),
    memLevel: 9,
    chunkSize: Math.max(1024, Math.ceil(rows.length / 2)),
  };
  const body = rows.length <= MAX_INLINE_BYTES ? deflateSync(rows, options) : await deflateAsync(rows, options);
  return joinBytes([
    SIGNATURE,
    ...toChunk("IHDR", new Uint8Array(header.buffer)),
    ...(palette === undefined ? [] : toPaletteChunks(palette)),
    ...toChunk("IDAT", body),
    ...toChunk("IEND", new Uint8Array(0)),
  ]);
}

/** How far what a pixel's neighbours let expect is from the corner between them, by the differences of both to it. */
let paeth: Uint8Array | undefined;

/**
 * Each row begins with the number of its filter: differences to what the neighbours let expect (PNG, section 9.4). By a table: what
 * a choice of three costs in a picture of noise is that the processor guesses wrong.
 */
function filterRows({ width, height, channels, data }: Pixels, memory: Memory): Uint8Array {
  const stride = width * channels;
  const output = memory.take("uint8", (stride + 1) * height);
  const table = (paeth ??= createPaethTable());
  output[0] = FILTER_SUB;
  for (let at = 0; at < stride; at += 1) {
    output[at + 1] = data[at]! - (at < channels ? 0 : data[at - channels]!);
  }
  for (let row = 1; row < height; row += 1) {
    const start = row * stride;
    const end = start + stride;
    // Each row before has one byte more than its pixels.
    const ahead = row + 1;
    output[start + row] = FILTER_PAETH;
    for (let channel = 0; channel < channels; channel += 1) {
      let left = 0;
      let corner = 0;
      for (let at = start + channel; at < end; at += channels) {
        const above = data[at - stride]!;
        const value = data[at]!;
        output[at + ahead] = value - corner - table[((above - corner + 256) << 9) | (left - corner + 256)]!;
        left = value;
        corner = above;
      }
    }
  }
  return output;
}

function createPaethTable(): Uint8Array {
  const table = new Uint8Array(512 * 512);
  for (let byAbove = -255; byAbove <= 255; byAbove += 1) {
    for (let byLeft = -255; byLeft <= 255; byLeft += 1) {
      // Left is as far from the sum of both as above is from the corner, and the other way round.
      const [toLeft, toAbove, toCorner] = [Math.abs(byAbove), Math.abs(byLeft), Math.abs(byAbove + byLeft)];
      table[((byAbove + 256) << 9) | (byLeft + 256)] =
        toLeft <= toAbove && toLeft <= toCorner ? byLeft : toAbove <= toCorner ? byAbove : 0;
    }
  }
  return table;
}

function copyRows({ width, height, data }: Pixels, memory: Memory): Uint8Array {
  const output = memory.take("uint8", (width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    output.set(data.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  return output;
}

/** In memory of their own, so that a thread can hand them over. */
function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const output = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    output.set(part, at);
    at += part.length;
  }
  return output;
}

function toPaletteChunks(palette: Uint8Array): readonly Uint8Array[] {
  const entries = palette.length / 4;
  const [colors, alphas] = [new Uint8Array(entries * 3), new Uint8Array(entries)];
  for (let entry = 0; entry < entries; entry += 1) {
    colors.set(palette.subarray(entry * 4, entry * 4 + 3), entry * 3);
    alphas[entry] = palette[entry * 4 + 3]!;
  }
  return [...toChunk("PLTE", colors), ...(alphas.every((value) => value === 255) ? [] : toChunk("tRNS", alphas))];
}

function toChunk(type: string, data: Uint8Array): readonly Uint8Array[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, "latin1");
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(data, crc32(head.subarray(4))), 0);
  return [head, data, tail];
}
