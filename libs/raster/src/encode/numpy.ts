import { commonTypeOf } from "../readers/common-type.ts";
import { type SampleType, type Samples, createSamples } from "../readers/raster.ts";
import type { Plane } from "../render/plane.ts";

const DTYPES: Readonly<Record<SampleType, string>> = {
  uint8: "|u1",
  int8: "|i1",
  uint16: "<u2",
  int16: "<i2",
  uint32: "<u4",
  int32: "<i4",
  float32: "<f4",
  float64: "<f8",
};

/**
 * `.npy` (format 1.0) of shape (bands + 1, height, width): the last one is the mask, 0 or 255. A pixel is there
 * where any band has it, as in pictures. Of shape (bands, height, width) without the mask.
 */
export function encodeNumpy(planes: readonly Plane[], width: number, height: number, hasMask = true): Uint8Array {
  const type = commonTypeOf(planes.map((plane) => plane.type));
  const mask = createSamples(type, width * height);
  for (let at = 0; at < mask.length; at += 1) {
    const exists = planes.some((plane) => plane.mask[at] !== 0);
    mask[at] = exists ? (type === "int8" ? 127 : 255) : 0;
  }
  const arrays: Samples[] = [...planes.map((plane) => toType(plane, type)), ...(hasMask ? [mask] : [])];
  const text = `{'descr': '${DTYPES[type]}', 'fortran_order': False, 'shape': (${arrays.length}, ${height}, ${width}), }`;
  const padding = 64 - ((10 + text.length + 1) % 64);
  const header = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${text}${" ".repeat(padding)}\n`, "latin1");
  header.writeUInt16LE(text.length + padding + 1, 8);
  return Buffer.concat([
    header,
    ...arrays.map((samples) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)),
  ]);
}

function toType({ samples, type }: Plane, wanted: SampleType): Samples {
  if (type === wanted) {
    return samples;
  }
  const output = createSamples(wanted, samples.length);
  output.set(samples);
  return output;
}
