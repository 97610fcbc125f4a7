import { RasterError } from "../../errors.ts";
import type { Layout } from "./layout.ts";

/** Photometric interpretations (TIFF 6.0 section 8) whose samples are read as they are stored. */
const MIN_IS_WHITE = 0;
const MIN_IS_BLACK = 1;
const RGB = 2;
const PALETTE = 3;
const MASK = 4;
const YCBCR = 6;
const JPEG = 7;

/** Names of the others, for messages. */
const REFUSED: Readonly<Record<number, string>> = {
  5: "CMYK",
  6: "YCbCr without JPEG",
  8: "CIE L*a*b*",
  9: "ICC L*a*b*",
  10: "ITU L*a*b*",
  32_803: "colour filter array",
  32_844: "LogL",
  32_845: "LogLuv",
};

/**
 * Other colour spaces need a conversion before their values mean what bands of a raster do.
 * @throws {RasterError} `unsupported`
 */
export function checkPhotometric(photometric: number, compression: number): void {
  const isRead =
    [MIN_IS_WHITE, MIN_IS_BLACK, RGB, PALETTE, MASK].includes(photometric) ||
    (photometric === YCBCR && compression === JPEG);
  if (!isRead) {
    throw new RasterError(
      "unsupported",
      `TIFFs of the photometric interpretation ${REFUSED[photometric] ?? photometric} are not read; ` +
        "grey, RGB, palette and YCbCr in JPEG are.",
    );
  }
}

/** Red, green, blue, alpha of each value: of a colour map, of bits, and of bytes whose least value is white. */
export function toPalette(
  { photometric, bits, samples, isSigned, isFloat }: Layout,
  map: readonly number[],
): Uint8Array | undefined {
  if (photometric === PALETTE) {
    return fromColorMap(map);
  }
  const isGray = photometric === MIN_IS_BLACK || photometric === MIN_IS_WHITE;
  if (!isGray || samples !== 1 || isSigned || isFloat || (bits !== 1 && !(photometric === MIN_IS_WHITE && bits <= 8))) {
    return undefined;
  }
  const greatest = 2 ** bits - 1;
  return Uint8Array.from({ length: (greatest + 1) * 4 }, (_, at) => {
    const gray = Math.round(((at >> 2) / greatest) * 255);
    return at % 4 === 3 ? 255 : photometric === MIN_IS_WHITE ? 255 - gray : gray;
  });
}

/** A colour map has all reds, then greens, then blues, 16 bits each (TIFF 6.0 section 5). */
function fromColorMap(map: readonly number[]): Uint8Array | undefined {
  const entries = Math.floor(map.length / 3);
  if (entries === 0) {
    return undefined;
  }
  // Some writers put 8 bits into the 16.
  const shift = map.every((value) => value < 256) ? 0 : 8;
  const palette = new Uint8Array(entries * 4);
  for (let entry = 0; entry < entries; entry += 1) {
    const color = [map[entry] ?? 0, map[entries + entry] ?? 0, map[2 * entries + entry] ?? 0];
    palette.set([...color.map((value) => value >> shift), 255], entry * 4);
  }
  return palette;
}
