import { type Decipheriv, createCipheriv, createDecipheriv, createHash } from "node:crypto";

const BLOCK_BYTES = 16;

/**
 * AES-256 in counter mode: any byte can be read without those before it. `seed` makes the first counter; a content file's id does, as no
 * other file has it and its bytes never change.
 */
export function createEncryption(key: Buffer, seed: string) {
  return createCipheriv("aes-256-ctr", key, toCounter(seed, 0));
}

/** Decrypts from byte `offset` on. */
export function createDecryption(key: Buffer, seed: string, offset: number): Decipheriv {
  const decipher = createDecipheriv("aes-256-ctr", key, toCounter(seed, Math.floor(offset / BLOCK_BYTES)));
  decipher.update(Buffer.alloc(offset % BLOCK_BYTES));
  return decipher;
}

/** Small content, which lies in the index. */
export function cryptSmall(key: Buffer, seed: string, data: Uint8Array): Buffer {
  return createEncryption(key, seed).update(data);
}

function toCounter(seed: string, blocks: number): Buffer {
  const first = BigInt(`0x${createHash("sha256").update(seed).digest("hex").slice(0, 32)}`);
  const counter = (first + BigInt(blocks)) & ((1n << 128n) - 1n);
  return Buffer.from(counter.toString(16).padStart(32, "0"), "hex");
}
