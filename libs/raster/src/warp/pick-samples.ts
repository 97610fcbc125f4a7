import type { SampleType, Samples } from "../readers/raster.ts";

/**
 * Samples of the pixels that points fall on, from blocks of 2^shift pixels by their numbers, see `BlockIndex`. Samples of one and of
 * two bytes have loops of their own: V8 compiles one that meets many kinds of arrays to a slower one.
 */
export function pickSamples(
  blocks: readonly Samples[],
  index: Int32Array,
  shift: number,
  output: Samples,
  type: SampleType,
): void {
  switch (type) {
    case "uint8":
    case "int8":
      pickBytes(blocks.map(toBytes), index, shift, toBytes(output));
      break;
    case "uint16":
    case "int16":
      pickShorts(blocks.map(toShorts), index, shift, toShorts(output));
      break;
    case "uint32":
    case "int32":
    case "float32":
    case "float64":
      pickAny(blocks, index, shift, output);
      break;
  }
}

const toBytes = (samples: Samples): Uint8Array =>
  samples instanceof Uint8Array ? samples : new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);

const toShorts = (samples: Samples): Uint16Array =>
  samples instanceof Uint16Array
    ? samples
    : new Uint16Array(samples.buffer, samples.byteOffset, samples.byteLength / 2);

function pickBytes(blocks: readonly Uint8Array[], index: Int32Array, shift: number, output: Uint8Array): void {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      output[at] = block[from & within]!;
    }
  }
}

function pickShorts(blocks: readonly Uint16Array[], index: Int32Array, shift: number, output: Uint16Array): void {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      output[at] = block[from & within]!;
    }
  }
}

function pickAny(blocks: readonly Samples[], index: Int32Array, shift: number, output: Samples): void {
  const within = 2 ** shift - 1;
  let block = blocks[0]!;
  let number = 0;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      if (from >> shift !== number) {
        number = from >> shift;
        block = blocks[number]!;
      }
      output[at] = block[from & within]!;
    }
  }
}
