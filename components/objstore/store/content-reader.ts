import type { Decipheriv } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";

import { createDecryption } from "./cipher.ts";
import { CONTENT_BLOCK_BYTES } from "./content-trailer.ts";
import type { ContentPart } from "./rows.ts";

/** Stored bytes are not those that were stored. Nobody gets them. */
export class DamagedContentError extends Error {
  readonly file: string;

  constructor(file: string, what: string, options?: ErrorOptions) {
    super(`content file ${file} is damaged: ${what}`, options);
    this.file = file;
  }
}

/** Reads a stretch of a content file and compares every block of it with its checksum before anybody sees the bytes. */
export class ContentReader {
  readonly #handle: FileHandle;
  readonly #part: ContentPart;
  readonly #end: number;
  /** Checksums of the blocks from the first that is read on; undefined for files of releases that kept none. */
  readonly #checksums: Buffer | undefined;
  readonly #firstBlock: number;
  #decipher: Decipheriv | undefined;
  #at: number;

  private constructor(
    handle: FileHandle,
    part: ContentPart,
    start: number,
    end: number,
    checksums: Buffer | undefined,
  ) {
    this.#handle = handle;
    this.#part = part;
    this.#at = start;
    this.#end = end;
    this.#checksums = checksums;
    this.#firstBlock = Math.floor(start / CONTENT_BLOCK_BYTES);
  }

  /** `end` is exclusive. Owns the handle from now on, also when this fails. */
  static async open(
    handle: FileHandle,
    part: ContentPart,
    start: number,
    end: number,
    key?: Buffer,
  ): Promise<ContentReader> {
    let checksums: Buffer | undefined;
    if (part.form === 1) {
      const first = Math.floor(start / CONTENT_BLOCK_BYTES);
      const count = Math.ceil(end / CONTENT_BLOCK_BYTES) - first;
      checksums = Buffer.allocUnsafe(count * 4);
      try {
        await fill(handle, part.file, checksums, part.size + first * 4);
      } catch (error) {
        await handle.close();
        throw error;
      }
    }
    const reader = new ContentReader(handle, part, start, end, checksums);
    reader.#decipher = key && createDecryption(key, part.file, start);
    return reader;
  }

  /**
   * The next bytes, in `memory`; undefined at the end.
   * @param memory of at least one block, a multiple of blocks
   * @throws {DamagedContentError}
   */
  async read(memory: Buffer): Promise<Buffer | undefined> {
    const bytes = await this.#readStored(memory);
    return bytes === undefined || this.#decipher === undefined ? bytes : this.#decipher.update(bytes);
  }

  async #readStored(memory: Buffer): Promise<Buffer | undefined> {
    if (this.#at >= this.#end) {
      return undefined;
    }
    if (this.#checksums === undefined) {
      const bytes = memory.subarray(0, Math.min(memory.length, this.#end - this.#at));
      await fill(this.#handle, this.#part.file, bytes, this.#at);
      this.#at += bytes.length;
      return bytes;
    }
    const block = Math.floor(this.#at / CONTENT_BLOCK_BYTES);
    const from = block * CONTENT_BLOCK_BYTES;
    const until = Math.min(
      Math.ceil(this.#end / CONTENT_BLOCK_BYTES) * CONTENT_BLOCK_BYTES,
      this.#part.size,
      from + memory.length,
    );
    const bytes = memory.subarray(0, until - from);
    await fill(this.#handle, this.#part.file, bytes, from);
    this.#verify(bytes, block, this.#checksums);
    const wanted = bytes.subarray(this.#at - from, Math.min(until, this.#end) - from);
    this.#at = Math.min(until, this.#end);
    return wanted;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #verify(bytes: Buffer, block: number, checksums: Buffer): void {
    for (let at = 0, n = block - this.#firstBlock; at < bytes.length; at += CONTENT_BLOCK_BYTES, n += 1) {
      if (crc32(bytes.subarray(at, at + CONTENT_BLOCK_BYTES)) !== checksums.readUInt32LE(n * 4)) {
        throw new DamagedContentError(
          this.#part.file,
          `the bytes from ${(block + at / CONTENT_BLOCK_BYTES) * CONTENT_BLOCK_BYTES} on are not those that were stored`,
        );
      }
    }
  }
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
