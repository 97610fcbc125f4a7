// @ts-expect-error -- the package has no types; those below say what is used of it
import Lerc from "lerc";

import { invalidRaster } from "../../../errors.ts";

interface LercBlock {
  readonly width: number;
  readonly height: number;
  readonly pixels: readonly ArrayLike<number>[];
  readonly mask?: Uint8Array | null;
}

interface LercBands {
  readonly decode: (
    bytes: ArrayBuffer,
    options?: { readonly noDataValue?: number; readonly returnMask?: boolean },
  ) => LercBlock;
}

/** Limited Error Raster Compression; samples next to each other in the layout's own type, invalid ones 0 (NaN for floats). */
export function decodeLerc(
  bytes: Uint8Array,
  {
    width,
    height,
    samples,
    create,
  }: {
    width: number;
    height: number;
    samples: number;
    create: (length: number) => {
      [index: number]: number;
      readonly buffer: ArrayBufferLike;
      fill: (value: number) => unknown;
    };
  },
): Uint8Array {
  let block: LercBlock;
  try {
    block = (Lerc as unknown as LercBands).decode(new Uint8Array(bytes).buffer);
  } catch (error) {
    throw invalidRaster("A LERC block is damaged.", error);
  }
  if (block.width !== width || block.height !== height || block.pixels.length === 0) {
    throw invalidRaster(`A LERC block has ${block.width} × ${block.height} pixels instead of ${width} × ${height}.`);
  }
  const output = create(width * height * samples);
  for (let sample = 0; sample < samples; sample += 1) {
    // A block of several dimensions has them one after the other in one array.
    const plane = block.pixels[Math.min(sample, block.pixels.length - 1)] ?? [];
    const isFlat = block.pixels.length === 1 && plane.length === width * height * samples;
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      const isValid = block.mask === undefined || block.mask === null || block.mask[pixel] !== 0;
      output[pixel * samples + sample] = isValid
        ? (plane[isFlat ? sample * width * height + pixel : pixel] ?? 0)
        : Number.NaN;
    }
  }
  return new Uint8Array(output.buffer);
}
