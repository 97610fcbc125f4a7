import type { Memory } from "../memory.ts";
import type { BandInfo, Samples } from "../readers/raster.ts";
import { createSamples } from "../readers/raster.ts";

/** Samples of the pixels that points fall on. */
export interface Picked {
  readonly samples: Samples;
  /** Some have the value of those that are not there. */
  readonly hasMissing: boolean;
}

/** No value at all. */
const NONE = -1;

/**
 * From blocks of 2^shift pixels by their numbers, see `BlockIndex`. Samples of one and of two bytes have loops of their own: V8
 * compiles one that meets many kinds of arrays to a slower one.
 */
export function pickSamples(
  blocks: readonly Samples[],
  index: Int32Array,
  shift: number,
  info: Pick<BandInfo, "type" | "nodata">,
  memory: Memory,
): Picked {
  const { type, nodata } = info;
  const samples = memory.take(type, index.length);
  switch (type) {
    case "uint8":
    case "int8": {
      const hasMissing = pickBytes(blocks.map(toBytes), index, shift, toBytes(samples), toBits(type, nodata));
      return { samples, hasMissing };
    }
    case "uint16":
    case "int16": {
      const hasMissing = pickShorts(blocks.map(toShorts), index, shift, toShorts(samples), toBits(type, nodata));
      return { samples, hasMissing };
    }
    case "uint32":
    case "int32":
    case "float32":
    case "float64":
      return { samples, hasMissing: pickAny(blocks, index, shift, samples, missingOf(info)) };
  }
}

/** 0 for pixels whose value says that there is nothing. */
export function maskMissing(
  mask: Uint8Array,
  samples: Samples,
  info: Pick<BandInfo, "type" | "nodata">,
  memory: Memory,
): Uint8Array {
  const output = memory.take("uint8", mask.length);
  output.set(mask);
  const missing = missingOf(info);
  for (let at = 0; at < output.length; at += 1) {
    const value = samples[at]!;
    // NaN is not itself.
    if (value === missing || value !== value) {
      output[at] = 0;
    }
  }
  return output;
}

/** The value as it is stored. */
export const missingOf = ({ type, nodata }: Pick<BandInfo, "type" | "nodata">): number | undefined =>
  type === "float32" && nodata !== undefined ? Math.fround(nodata) : nodata;

function toBits(type: "uint8" | "int8" | "uint16" | "int16", nodata: number | undefined): number {
  const one = createSamples(type, 1);
  one[0] = nodata ?? 0;
  // What the type cannot hold is no pixel's value.
  return nodata === undefined || one[0] !== nodata
    ? NONE
    : type === "uint8" || type === "int8"
      ? toBytes(one)[0]!
      : toShorts(one)[0]!;
}

const toBytes = (samples: Samples): Uint8Array =>
  samples instanceof Uint8Array ? samples : new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);

const toShorts = (samples: Samples): Uint16Array =>
  samples instanceof Uint16Array
    ? samples
    : new Uint16Array(samples.buffer, samples.byteOffset, samples.byteLength / 2);

function pickBytes(
  blocks: readonly Uint8Array[],
  index: Int32Array,
  shift: number,
  output: Uint8Array,
  missing: number,
): boolean {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  let hasMissing = false;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      const value = block[from & within]!;
      output[at] = value;
      if (value === missing) {
        hasMissing = true;
      }
    }
  }
  return hasMissing;
}

function pickShorts(
  blocks: readonly Uint16Array[],
  index: Int32Array,
  shift: number,
  output: Uint16Array,
  missing: number,
): boolean {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  let hasMissing = false;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      const value = block[from & within]!;
      output[at] = value;
      if (value === missing) {
        hasMissing = true;
      }
    }
  }
  return hasMissing;
}

function pickAny(
  blocks: readonly Samples[],
  index: Int32Array,
  shift: number,
  output: Samples,
  missing: number | undefined,
): boolean {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  let hasMissing = false;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      const value = block[from & within]!;
      output[at] = value;
      // NaN is not itself.
      if (value === missing || value !== value) {
        hasMissing = true;
      }
    }
  }
  return hasMissing;
}
