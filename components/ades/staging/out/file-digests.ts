import { type Hash, createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";

const BLOCK = 2 ** 20;

/** Digests of a file that is read piece by piece, from its beginning to its end, once. */
export interface FileDigests {
  /** Reads on; the CRC-32 of the piece in base64. Pieces are read one after another, in the order of the calls. */
  readonly readPiece: (bytes: number) => Promise<string>;
  /** Of all pieces, in hexadecimal. */
  readonly finish: () => string;
}

export function createFileDigests(file: FileHandle, signal: AbortSignal): FileDigests {
  const whole = createHash("sha256");
  let at = 0;
  let reading: Promise<unknown> = Promise.resolve();
  const read = async (bytes: number): Promise<string> => {
    let crc = 0;
    for await (const block of readBlocks(file, { start: at, bytes, signal })) {
      crc = crc32(block, crc);
      whole.update(block);
    }
    at += bytes;
    const value = Buffer.alloc(4);
    value.writeUInt32BE(crc);
    return value.toString("base64");
  };
  return {
    readPiece: (bytes) => {
      const piece = reading.then(() => read(bytes));
      reading = piece;
      return piece;
    },
    finish: () => whole.digest("hex"),
  };
}

/**
 * What an object store calls a file that was sent in parts of `length` bytes (the ETag: the MD5 of the MD5s of its parts), and the
 * file's SHA-256.
 */
export async function digestInParts(
  path: string,
  { size, length, signal }: { readonly size: number; readonly length: number; readonly signal: AbortSignal },
): Promise<{ readonly etag: string; readonly sha256: string }> {
  const [whole, ofParts] = [createHash("sha256"), createHash("md5")];
  const file = await open(path);
  try {
    for (let start = 0; start < size; start += length) {
      const bytes = Math.min(length, size - start);
      ofParts.update(await digestPiece(file, { start, bytes, signal }, whole));
    }
  } finally {
    await file.close();
  }
  return { etag: `${ofParts.digest("hex")}-${Math.ceil(size / length)}`, sha256: whole.digest("hex") };
}

interface Piece {
  readonly start: number;
  readonly bytes: number;
  readonly signal: AbortSignal;
}

/** The MD5 of a piece of a file, which goes into `also` as well. */
export async function digestPiece(file: FileHandle, piece: Piece, also?: Hash): Promise<Buffer> {
  const md5 = createHash("md5");
  for await (const block of readBlocks(file, piece)) {
    md5.update(block);
    also?.update(block);
  }
  return md5.digest();
}

/** Blocks of a piece; each is to be done with before the next is asked for. */
async function* readBlocks(file: FileHandle, { start, bytes, signal }: Piece): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafeSlow(Math.min(BLOCK, bytes));
  for (let done = 0; done < bytes; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, bytes - done), start + done);
    if (bytesRead === 0) {
      throw new Error("the file became shorter while it was read");
    }
    yield block.subarray(0, bytesRead);
    done += bytesRead;
  }
}
