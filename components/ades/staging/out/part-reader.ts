import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";

import type { BufferPool } from "./buffer-pool.ts";

const BLOCK = 2 ** 20;

/** A file that is read piece by piece, from its beginning to its end, once. */
export interface PartReader {
  /** What follows, in memory that has to be given back; its CRC-32 in base64. Pieces come in the order of the calls. */
  readonly readNext: (bytes: number) => Promise<FilePiece>;
  /** SHA-256 of all pieces, in hexadecimal. */
  readonly finish: () => string;
}

interface FilePiece {
  readonly buffer: Buffer;
  /** The part of the buffer that the piece is in. */
  readonly body: Buffer;
  readonly crc32: string;
}

export const createPartReader = (file: FileHandle, buffers: BufferPool): PartReader =>
  createPieces((block, at) => fill(file, block, at), buffers);

/** The same for what comes from somewhere else. */
export function createStreamPieces(stream: Readable, buffers: BufferPool): PartReader {
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return createPieces(async (block) => {
    for (let done = 0; done < block.length;) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) {
          throw new Error("the stream ended before its announced length");
        }
        rest = next.value;
      }
      const copied = rest.copy(block, done);
      done += copied;
      rest = rest.subarray(copied);
    }
  }, buffers);
}

function createPieces(fillBlock: (block: Buffer, at: number) => Promise<void>, buffers: BufferPool): PartReader {
  const whole = createHash("sha256");
  let at = 0;
  let reading: Promise<unknown> = Promise.resolve();
  const read = async (bytes: number): Promise<FilePiece> => {
    const buffer = await buffers.take(bytes);
    try {
      let crc = 0;
      const body = buffer.subarray(0, bytes);
      // By blocks, so that what is being sent meanwhile is not held up for long.
      for (let start = 0; start < bytes; start += BLOCK) {
        const block = body.subarray(start, start + BLOCK);
        await fillBlock(block, at);
        at += block.length;
        crc = crc32(block, crc);
        whole.update(block);
      }
      const value = Buffer.alloc(4);
      value.writeUInt32BE(crc);
      return { buffer, body, crc32: value.toString("base64") };
    } catch (error) {
      buffers.release(buffer);
      throw error;
    }
  };
  return {
    readNext: (bytes) => {
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
  const buffer = Buffer.allocUnsafeSlow(BLOCK);
  const file = await open(path);
  try {
    for (let start = 0; start < size; start += length) {
      const end = Math.min(start + length, size);
      const ofPart = createHash("md5");
      for (let at = start; at < end; at += BLOCK) {
        signal.throwIfAborted();
        const block = buffer.subarray(0, Math.min(BLOCK, end - at));
        await fill(file, block, at);
        ofPart.update(block);
        whole.update(block);
      }
      ofParts.update(ofPart.digest());
    }
  } finally {
    await file.close();
  }
  return { etag: `${ofParts.digest("hex")}-${Math.ceil(size / length)}`, sha256: whole.digest("hex") };
}

async function fill(file: FileHandle, block: Buffer, position: number): Promise<void> {
  for (let done = 0; done < block.length;) {
    const { bytesRead } = await file.read(block, done, block.length - done, position + done);
    if (bytesRead === 0) {
      throw new Error("the file became shorter while it was read");
    }
    done += bytesRead;
  }
}
