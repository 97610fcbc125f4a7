import type { IHasher } from "hash-wasm";

/** XXH64, and XXH3 of 64 and 128 bits, as S3 names them; canonical form: most significant byte first. */
export type XxhashName = "xxhash64" | "xxhash3" | "xxhash128";

/** One a process: a hasher takes a WebAssembly instance, whose state is kept for each stream beside it. */
let hashers: Readonly<Record<XxhashName, IHasher>> | undefined;

/** Loads the hashers; most processes never need them, and they take twelve megabytes. */
export async function loadXxhash(): Promise<void> {
  if (hashers === undefined) {
    const { createXXHash3, createXXHash64, createXXHash128 } = await import("hash-wasm");
    hashers = {
      xxhash64: await createXXHash64(),
      xxhash3: await createXXHash3(),
      xxhash128: await createXXHash128(),
    };
  }
}

/** A hash of a stream of bytes. @throws {Error} before `loadXxhash` */
export function createXxhash(name: XxhashName): {
  readonly update: (bytes: Uint8Array) => void;
  readonly finish: () => Buffer;
} {
  if (hashers === undefined) {
    throw new Error(`${name} is not loaded`);
  }
  const hasher = hashers[name];
  let state = hasher.init().save();
  return {
    update: (bytes) => {
      state = hasher.load(state).update(bytes).save();
    },
    finish: () => Buffer.from(hasher.load(state).digest("binary")),
  };
}
