import sharp from "sharp";

import { invalidRaster } from "../../../errors.ts";

const SOI = 0xd8;
const APP14 = 0xee;
/** "Adobe" marker with transform 0: the components are what they are, nothing is converted. */
const NO_TRANSFORM = Uint8Array.of(0xff, APP14, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, 0);

/** JPEG as TIFF holds it: tables of all blocks apart, YCbCr only where the photometric interpretation says so. */
export async function decodeJpeg(
  bytes: Uint8Array,
  {
    width,
    height,
    samples,
    isYcbcr,
    tables,
  }: { width: number; height: number; samples: number; isYcbcr: boolean; tables?: Uint8Array },
): Promise<Uint8Array> {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) {
    throw invalidRaster("A JPEG block is damaged.");
  }
  const parts = [
    bytes.subarray(0, 2),
    ...(samples === 3 && !isYcbcr ? [NO_TRANSFORM] : []),
    // The tables are a JPEG of their own: start and end of image are left out.
    ...(tables !== undefined && tables.length > 4 ? [tables.subarray(2, -2)] : []),
    bytes.subarray(2),
  ];
  return decodeImage(Buffer.concat(parts), width, height, samples);
}

/** JPEG or WebP to samples next to each other, 8 bits each. */
export async function decodeImage(
  bytes: Uint8Array,
  width: number,
  height: number,
  samples: number,
): Promise<Uint8Array> {
  const image = sharp(bytes, { limitInputPixels: width * height, sequentialRead: true, failOn: "error" });
  const { data, info } = await image
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((error: unknown) => {
      throw invalidRaster("A compressed block is damaged.", error);
    });
  if (info.width !== width || info.height !== height) {
    throw invalidRaster(
      `A compressed block has ${info.width} × ${info.height} pixels instead of ${width} × ${height}.`,
    );
  }
  if (info.channels === samples) {
    return data;
  }
  // Grey images may come with three equal channels, opaque WebP without the fourth.
  const output = Buffer.alloc(width * height * samples, 255);
  const shared = Math.min(info.channels, samples);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    for (let sample = 0; sample < shared; sample += 1) {
      output[pixel * samples + sample] = data[pixel * info.channels + sample] ?? 0;
    }
  }
  return output;
}
