import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { decodeCodestream } from "./decoder.ts";

interface Encoder {
  readonly getDecodedBuffer: (image: object) => Uint8Array;
  readonly encode: () => void;
  readonly getEncodedBuffer: () => Uint8Array;
}

const SIZE = 64;
const require = createRequire(import.meta.url);

/** A codestream of one tile. The encoder is the decoder's other half. */
async function encode(components: number): Promise<Uint8Array> {
  const open = require("@cornerstonejs/codec-openjpeg/wasmjs") as (
    options: object,
  ) => Promise<{ readonly J2KEncoder: new () => Encoder }>;
  const wasmBinary = readFileSync(require.resolve("@cornerstonejs/codec-openjpeg/wasm"));
  const { J2KEncoder } = await open({ wasmBinary, print: () => {}, printErr: () => {} });
  const encoder = new J2KEncoder();
  const image = { width: SIZE, height: SIZE, bitsPerSample: 8, isSigned: false, componentCount: components };
  const pixels = encoder.getDecodedBuffer({ ...image, isUsingColorTransform: false });
  pixels.forEach((_, at) => (pixels[at] = at * 7));
  encoder.encode();
  return Uint8Array.from(encoder.getEncodedBuffer());
}

test("decodes valid files after many that the decoder faults over", async () => {
  const read = async (bytes: Uint8Array, components: number) =>
    decodeCodestream(bytes, { reduction: 0, pixels: SIZE * SIZE, components, type: "uint8" });
  const valid = await encode(1);
  // More components than its header has room for.
  const faulty = Uint8Array.from(valid);
  faulty[41] = 3;
  for (let round = 0; round < 12; round += 1) {
    await assert.rejects(read(faulty, 3), { code: "invalid-raster" });
  }
  const [plane] = await read(valid, 1);
  assert.deepEqual([...(plane ?? [])].slice(0, 3), [0, 7, 14]);
});
