import { promisify } from "node:util";
import { gunzip, inflate, zstdDecompress } from "node:zlib";

import Blosc from "numcodecs/blosc";
import Lz4 from "numcodecs/lz4";
import { registry } from "zarrita";

import { invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES } from "../../limits.ts";

interface BytesCodec {
  readonly kind: "bytes_to_bytes";
  readonly encode: (bytes: Uint8Array) => never;
  readonly decode: (bytes: Uint8Array) => Promise<Uint8Array> | Uint8Array;
}

const limits = { maxOutputLength: MAX_BLOCK_BYTES };
const [unzip, unpack, unzstd] = [promisify(gunzip), promisify(inflate), promisify(zstdDecompress)];
/** Blosc and LZ4 say first how much they hold. */
const BLOSC_SIZE_AT = 4;

/** Compressions of chunks that never unpack to more than one block may have: the library's own unpack whatever comes. */
export function addBoundedCodecs(): void {
  const add = (names: readonly string[], decode: BytesCodec["decode"]) => {
    const codec: BytesCodec = {
      kind: "bytes_to_bytes",
      encode: () => {
        throw new Error("nothing is written");
      },
      decode,
    };
    for (const name of names) {
      registry.set(name, (() => ({ fromConfig: () => codec })) as never);
    }
  };
  add(["gzip", "numcodecs.gzip"], (bytes) => unzip(bytes, limits));
  add(["zlib", "numcodecs.zlib"], (bytes) => unpack(bytes, limits));
  add(["zstd", "numcodecs.zstd"], (bytes) => unzstd(bytes, limits));
  add(["blosc", "numcodecs.blosc"], (bytes) => {
    checkSize(bytes, BLOSC_SIZE_AT);
    return Blosc.fromConfig({ id: "blosc" } as never).decode(bytes);
  });
  add(["lz4", "numcodecs.lz4"], (bytes) => {
    checkSize(bytes, 0);
    return Lz4.fromConfig({ id: "lz4" } as never).decode(bytes);
  });
}

function checkSize(bytes: Uint8Array, at: number): void {
  const size = bytes.length < at + 4 ? 0 : Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).readUInt32LE();
  if (size === 0 || size > MAX_BLOCK_BYTES) {
    throw invalidRaster(`A chunk of the Zarr data claims ${size} bytes.`);
  }
}
