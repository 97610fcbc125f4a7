import sharp, { type Sharp } from "sharp";

import { RasterError, invalidRaster } from "../../../errors.ts";

const SOI = 0xd8;
const SOS = 0xda;
const APP0 = 0xe0;
const APP15 = 0xef;
/** "Adobe" marker: transform 0, the components are what they are; 1, they are YCbCr. */
const adobeMarker = (transform: 0 | 1) =>
  Uint8Array.of(0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, transform);

/**
 * JPEG as TIFF holds it: tables of all blocks apart. Only the photometric interpretation says whether components are YCbCr, and so
 * markers of applications, which decoders would follow, are left out.
 */
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
  if (samples === 2 || samples > 4) {
    throw new RasterError("unsupported", `JPEG blocks of ${samples} components are not read; 1, 3 and 4 are.`);
  }
  const parts = [
    bytes.subarray(0, 2),
    ...(samples === 3 ? [adobeMarker(isYcbcr ? 1 : 0)] : []),
    // The tables are a JPEG of their own: start and end of image are left out.
    ...(tables !== undefined && tables.length > 4 ? withoutApplicationMarkers(tables.subarray(2, -2)) : []),
    ...withoutApplicationMarkers(bytes.subarray(2)),
  ];
  const whole = Buffer.concat(parts);
  if (samples !== 4) {
    return decode(openImage(whole, width, height), width, height, samples);
  }
  // Four components look like CMYK: a conversion to itself leaves them as they are, but for libvips, which takes them as inverted.
  const inverted = openImage(whole, width, height).pipelineColourspace("cmyk").toColourspace("cmyk");
  return (await decode(inverted, width, height, samples)).map((value) => 255 - value);
}

/** WebP to samples next to each other, 8 bits each. */
export async function decodeWebp(
  bytes: Uint8Array,
  { width, height, samples }: { width: number; height: number; samples: number },
): Promise<Uint8Array> {
  if (samples !== 3 && samples !== 4) {
    throw invalidRaster(`WebP blocks have 3 or 4 components, not ${samples}.`);
  }
  return decode(openImage(bytes, width, height), width, height, samples);
}

/** The segments of a JPEG (ITU T.81 annex B) but APP0 to APP15; from the first scan on nothing is looked at. */
function withoutApplicationMarkers(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    const end = at + 2 + bytes[at + 2]! * 256 + bytes[at + 3]!;
    if (marker === SOS || marker === 0xff) {
      break;
    }
    if (marker < APP0 || marker > APP15) {
      parts.push(bytes.subarray(at, end));
    }
    at = end;
  }
  return [...parts, bytes.subarray(at)];
}

const openImage = (bytes: Uint8Array, width: number, height: number): Sharp =>
  sharp(bytes, { limitInputPixels: width * height, sequentialRead: true, failOn: "error", ignoreIcc: true });

/** Samples next to each other, 8 bits each. */
async function decode(image: Sharp, width: number, height: number, samples: number): Promise<Uint8Array> {
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
  const isOpaque = samples === 4 && info.channels === 3;
  if (!isOpaque && !(samples === 1 && info.channels === 3)) {
    throw invalidRaster(`A compressed block has ${info.channels} components instead of ${samples}.`);
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
