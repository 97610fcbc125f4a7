import { promisify } from "node:util";
import { constants, crc32, deflate, deflateSync } from "node:zlib";

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

/**
 * A PNG of 8 bits a channel, or of a palette. Own rather than by a general library: satellite pictures are noise to a search for
 * repeated strings. Differences to neighbours with a search for runs only take less time, and half of the bytes at full resolution.
 */
export async function encodePng(
  image: Pick<Image, "width" | "height" | "channels" | "data" | "palette">,
): Promise<Uint8Array> {
  const { width, height, channels, palette } = image;
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, palette === undefined ? COLOR_TYPES[channels] : INDEXED);
  const rows = palette === undefined ? filterRows(image) : copyRows(image);
  const options = {
    // Values of a palette repeat, differences rarely do.
    ...(palette === undefined ? { level: 1, strategy: constants.Z_RLE } : { level: 2 }),
    memLevel: 9,
    chunkSize: Math.max(1024, Math.ceil(rows.length / 2)),
  };
  const body = rows.length <= MAX_INLINE_BYTES ? deflateSync(rows, options) : await deflateAsync(rows, options);
  return Buffer.concat([
    SIGNATURE,
    ...toChunk("IHDR", new Uint8Array(header.buffer)),
    ...(palette === undefined ? [] : toPaletteChunks(palette)),
    ...toChunk("IDAT", body),
    ...toChunk("IEND", new Uint8Array(0)),
  ]);
}

/** Each row begins with the number of its filter: differences to what the neighbours let expect (PNG, section 9.4). */
function filterRows({
  width,
  height,
  channels,
  data,
}: Pick<Image, "width" | "height" | "channels" | "data">): Uint8Array {
  const stride = width * channels;
  const output = new Uint8Array((stride + 1) * height);
  output[0] = FILTER_SUB;
  for (let at = 0; at < stride; at += 1) {
    output[at + 1] = data[at]! - (at < channels ? 0 : data[at - channels]!);
  }
  for (let row = 1; row < height; row += 1) {
    const start = row * stride;
    let to = row * (stride + 1);
    output[to] = FILTER_PAETH;
    to += 1;
    for (let from = start; from < start + channels; from += 1, to += 1) {
      output[to] = data[from]! - data[from - stride]!;
    }
    for (let from = start + channels, end = start + stride; from < end; from += 1, to += 1) {
      const left = data[from - channels]!;
      const above = data[from - stride]!;
      const corner = data[from - stride - channels]!;
      const byLeft = above - corner;
      const byAbove = left - corner;
      const toLeft = byLeft < 0 ? -byLeft : byLeft;
      const toAbove = byAbove < 0 ? -byAbove : byAbove;
      const both = byLeft + byAbove;
      const toCorner = both < 0 ? -both : both;
      output[to] =
        data[from]! - (toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner);
    }
  }
  return output;
}

function copyRows({ width, height, data }: Pick<Image, "width" | "height" | "data">): Uint8Array {
  const output = new Uint8Array((width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    output.set(data.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
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
