import type { Decipheriv } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";

import { createDecryption } from "../encryption/cipher.ts";
import { CONTENT_BLOCK_BYTES } from "./content-trailer.ts";
import type { ContentPart } from "../rows.ts";

/** Stored bytes are not those that were stored. Nobody gets them. */
export class DamagedContentError extends Error {
  readonly file: string;

  constructor(file: string, what: string, options?: ErrorOptions) {
    super(`content file ${file} is damaged: ${what}`, options);
    this.file = file;
  }
}

interface OpenedFile {
  readonly handle: FileHandle;
  /** Checksums of the blocks from the first that is read on; undefined for files of releases that kept none. */
  readonly checksums: Buffer | undefined;
}

/** Which bytes of the file one read takes in (from block to block), and which of them are asked for. */
interface Span {
  readonly from: number;
  readonly until: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a stretch of a content file and compares every block of it with its checksum before anybody sees the bytes. Several reads may
 * be under way at once, each in memory of its own: they go on from one another in the order of the calls.
 */
export class ContentReader {
  readonly #file: Promise<OpenedFile>;
  readonly #part: ContentPart;
  readonly #start: number;
  readonly #end: number;
  readonly #decipher: Decipheriv | undefined;
  #at: number;
  #last: Promise<unknown> = Promise.resolve();

  /** `end` is exclusive. Owns the handle from now on; that it cannot be had is said by the first read. */
  constructor(handle: Promise<FileHandle>, part: ContentPart, start: number, end: number, key?: Buffer) {
    this.#part = part;
    this.#start = start;
    this.#at = start;
    this.#end = end;
    this.#decipher = key && createDecryption(key, part.file, start);
    this.#file = this.#open(handle);
    this.#file.catch(() => {});
  }

  /** Whether the reads that were begun take in everything. */
  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /**
   * The next bytes, in `memory`; undefined at the end.
   * @param memory of at least one block, a multiple of blocks
   * @throws {DamagedContentError}
   */
  read(memory: Buffer): Promise<Buffer | undefined> {
    if (this.isAtEnd) {
      return Promise.resolve(undefined);
    }
    const span = this.#nextSpan(memory.length);
    const reading = this.#readSpan(span, memory, this.#last);
    this.#last = reading;
    // The caller is told; a read that failed ahead of its time must not end the process.
    reading.catch(() => {});
    return reading;
  }

  /** Lets go of the file once the reads that are under way have ended: a file handle waits for them. */
  async close(): Promise<void> {
    const file = await this.#file.catch(() => undefined);
    await file?.handle.close();
  }

  async #open(opening: Promise<FileHandle>): Promise<OpenedFile> {
    const handle = await opening;
    if (this.#part.form !== 1) {
      return { handle, checksums: undefined };
    }
    const first = Math.floor(this.#start / CONTENT_BLOCK_BYTES);
    const count = Math.ceil(this.#end / CONTENT_BLOCK_BYTES) - first;
    const checksums = Buffer.allocUnsafe(count * 4);
    try {
      await fill(handle, this.#part.file, checksums, this.#part.size + first * 4);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return { handle, checksums };
  }

  #nextSpan(length: number): Span {
    const start = this.#at;
    const from = this.#part.form === 1 ? start - (start % CONTENT_BLOCK_BYTES) : start;
    const last = this.#part.form === 1 ? toBlockEnd(this.#end, this.#part.size) : this.#end;
    const until = Math.min(last, from + length);
    const end = Math.min(until, this.#end);
    this.#at = end;
    return { from, until, start, end };
  }

  async #readSpan({ from, until, start, end }: Span, memory: Buffer, before: Promise<unknown>): Promise<Buffer> {
    const { handle, checksums } = await this.#file;
    const bytes = memory.subarray(0, until - from);
    await fill(handle, this.#part.file, bytes, from);
    if (checksums !== undefined) {
      this.#verify(bytes, from / CONTENT_BLOCK_BYTES, checksums);
    }
    const requested = bytes.subarray(start - from, end - from);
    if (this.#decipher === undefined) {
      return requested;
    }
    // A decipher goes on from the bytes that it had before.
    await before;
    return this.#decipher.update(requested);
  }

  #verify(bytes: Buffer, block: number, checksums: Buffer): void {
    const first = Math.floor(this.#start / CONTENT_BLOCK_BYTES);
    for (let at = 0, n = block - first; at < bytes.length; at += CONTENT_BLOCK_BYTES, n += 1) {
      if (crc32(bytes.subarray(at, at + CONTENT_BLOCK_BYTES)) !== checksums.readUInt32LE(n * 4)) {
        throw new DamagedContentError(
          this.#part.file,
          `the bytes from ${block * CONTENT_BLOCK_BYTES + at} on are not those that were stored`,
        );
      }
    }
  }
}

/** Where the block ends that `end` lies in, in a file of `size` bytes. */
function toBlockEnd(end: number, size: number): number {
  return Math.min(Math.ceil(end / CONTENT_BLOCK_BYTES) * CONTENT_BLOCK_BYTES, size);
}

async function fill(handle: FileHandle, file: string, memory: Buffer, position: number): Promise<void> {
  for (let done = 0; done < memory.length;) {
    const { bytesRead } = await handle
      .read(memory, done, memory.length - done, position + done)
      .catch((error: Error) => {
        throw new DamagedContentError(file, error.message, { cause: error });
      });
    if (bytesRead === 0) {
      throw new DamagedContentError(file, "it is shorter than the index says");
    }
    done += bytesRead;
  }
}
