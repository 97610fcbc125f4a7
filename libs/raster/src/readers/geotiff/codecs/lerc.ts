// @ts-expect-error -- the package has no types; those below say what is used of it
import Lerc from "lerc";

import { RasterError, invalidRaster } from "../../../errors.ts";

interface LercBlock {
  readonly width: number;
  readonly height: number;
  /** One or more bands; one of several dimensions has them one after the other. */
  readonly pixels: readonly {
    readonly length: number;
    readonly subarray: (from: number, to: number) => ArrayLike<number>;
  }[];
  readonly mask?: Uint8Array | null;
  /** Of each band, where they differ. */
  readonly bandMasks?: readonly Uint8Array[];
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
  checkBlobs(bytes, width, height, samples);
  let block: LercBlock;
  try {
    block = (Lerc as unknown as LercBands).decode(new Uint8Array(bytes).buffer);
  } catch (error) {
    throw invalidRaster("A LERC block is damaged.", error);
  }
  if (block.width !== width || block.height !== height || block.pixels.length === 0) {
    throw invalidRaster(`A LERC block has ${block.width} × ${block.height} pixels instead of ${width} × ${height}.`);
  }
  const count = width * height;
  const planes = block.pixels.flatMap((band, at) =>
    Array.from({ length: band.length / count }, (_, dimension) => ({
      values: band.subarray(dimension * count, (dimension + 1) * count),
      mask: (block.bandMasks === undefined ? block.mask : block.bandMasks[at]) ?? undefined,
    })),
  );
  const output = create(count * samples);
  // As libtiff writes bytes with an alpha band that is all or nothing: the mask is the last sample.
  const isMaskAlpha = output instanceof Uint8Array && samples > 1 && planes.length === samples - 1;
  if (planes.length !== samples && !isMaskAlpha) {
    throw invalidRaster(`A LERC block has ${planes.length} samples a pixel instead of ${samples}.`);
  }
  for (const [sample, { values, mask }] of planes.entries()) {
    for (let pixel = 0; pixel < count; pixel += 1) {
      const isValid = mask === undefined || mask[pixel] !== 0;
      output[pixel * samples + sample] = isValid ? values[pixel]! : Number.NaN;
    }
  }
  if (isMaskAlpha) {
    const { mask } = planes[0]!;
    for (let pixel = 0; pixel < count; pixel += 1) {
      output[pixel * samples + samples - 1] = mask === undefined || mask[pixel] !== 0 ? 255 : 0;
    }
  }
  return new Uint8Array(output.buffer);
}

const MAX_VERSION = 5;
const MARK = "Lerc2 ";
/** Of the longest head. */
const HEAD_BYTES = 66;

/** Heads of the bands' blobs, before memory is taken for what they announce and for what the decoder would read wrongly in silence. */
function checkBlobs(bytes: Uint8Array, width: number, height: number, samples: number): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const valid: number[] = [];
  let total = 0;
  for (let at = 0; at + HEAD_BYTES <= text.length && text.toString("latin1", at, at + MARK.length) === MARK;) {
    const version = text.readInt32LE(at + 6);
    if (version < 1 || version > MAX_VERSION) {
      throw new RasterError("unsupported", `LERC 2 is read up to version ${MAX_VERSION}, not ${version}.`);
    }
    const sizes = at + (version >= 3 ? 14 : 10);
    const counts = sizes + (version >= 4 ? 12 : 8);
    total += version >= 4 ? text.readUInt32LE(sizes + 8) : 1;
    const [blobHeight, blobWidth] = [text.readUInt32LE(sizes), text.readUInt32LE(sizes + 4)];
    if (blobWidth !== width || blobHeight !== height || total > samples) {
      throw invalidRaster(
        `A LERC block has ${blobWidth} × ${blobHeight} pixels of ${total} samples or more instead of ${width} × ${height} of ${samples}.`,
      );
    }
    valid.push(text.readUInt32LE(counts));
    at += Math.max(1, text.readInt32LE(counts + 8));
  }
  if (valid.some((count) => count === width * height) && valid.some((count) => count < width * height)) {
    throw new RasterError("unsupported", "LERC blocks with missing pixels in some bands only are not read.");
  }
}
