import type * as HashWasm from "hash-wasm";

/** Digests that Node.js lacks; XXH64, XXH3 and CRC-64/NVME as S3 names them, most significant byte first. */
export type WasmDigestName = "xxhash64" | "xxhash3" | "xxhash128" | "crc64nvme";

/** CRC-64/NVME in reflected form. */
const CRC64NVME_POLYNOMIAL = "9a6c9329ac4bc9b5";

/**
 * One module each: all of hash-wasm takes twelve megabytes in each thread. Types are those of the whole package, whose single files have none.
 */
const LOADERS: Readonly<Record<WasmDigestName, () => Promise<HashWasm.IHasher>>> = {
  xxhash64: async () => toModule(await import("hash-wasm/dist/xxhash64.umd.min.js" as string)).createXXHash64(),
  xxhash3: async () => toModule(await import("hash-wasm/dist/xxhash3.umd.min.js" as string)).createXXHash3(),
  xxhash128: async () => toModule(await import("hash-wasm/dist/xxhash128.umd.min.js" as string)).createXXHash128(),
  crc64nvme: async () =>
    toModule(await import("hash-wasm/dist/crc64.umd.min.js" as string)).createCRC64(CRC64NVME_POLYNOMIAL),
};

const toModule = (loaded: unknown) => (loaded as { default: typeof HashWasm }).default;

/** One of each in a thread: a hasher takes a WebAssembly instance, whose state is kept for each stream beside it. */
const hashers = new Map<string, HashWasm.IHasher>();

/** Loads those of the digests that are made here and are not loaded yet. */
export async function loadWasmDigests(names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (isWasmDigest(name) && !hashers.has(name)) {
      hashers.set(name, await LOADERS[name]());
    }
  }
}

export function isWasmDigest(name: string): name is WasmDigestName {
  return Object.hasOwn(LOADERS, name);
}

/** A digest of a stream of bytes. @throws {Error} before `loadWasmDigests` */
export function createWasmDigest(name: WasmDigestName): {
  readonly update: (bytes: Uint8Array) => void;
  readonly finish: () => Buffer;
} {
  const hasher = hashers.get(name);
  if (hasher === undefined) {
    throw new Error(`${name} is not loaded`);
  }
  let state = hasher.init().save();
  return {
    update: (bytes) => {
      state = hasher.load(state).update(bytes).save();
    },
    finish: () => Buffer.from(hasher.load(state).digest("binary")),
  };
}
