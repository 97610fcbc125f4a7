import type { ContentFiles } from "./content-files.ts";
import type { ContentReader } from "./content-reader.ts";
import { CONTENT_BLOCK_BYTES } from "./content-trailer.ts";
import type { ContentPart } from "../rows.ts";

/** Bytes of a read, and how many reads may be under way: small enough that what was read is still in the processor's cache when it is sent. */
const READ_BYTES = 8 * CONTENT_BLOCK_BYTES;
const MAX_READS = 2;

/** Verified and decrypted bytes, and the memory that they lie in. */
export interface ContentBlock {
  readonly bytes: Buffer;
  readonly memory: Buffer;
}

interface Stretch {
  readonly part: ContentPart;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a range of content, through all of its files, some blocks ahead of the caller: the next ones come from the disk and are verified
 * while those before them are used. Memory that is not given back is not read into.
 */
export class ContentStream {
  readonly #files: ContentFiles;
  readonly #stretches: Stretch[];
  readonly #key: Buffer | undefined;
  readonly #free: Buffer[];
  /** How many blocks a caller may hold on to: one is left to be read into, where there is more than one. */
  readonly depth: number;
  readonly #ahead: Promise<ContentBlock>[] = [];
  #reader: ContentReader | undefined;
  #isClosed = false;
  /** Of files read to their ends. */
  readonly #closing = new Set<Promise<void>>();

  /** `start` and `end` count from the beginning of the first part; `end` is exclusive. */
  constructor(files: ContentFiles, parts: readonly ContentPart[], start: number, end: number, key?: Buffer) {
    this.#files = files;
    this.#key = key;
    this.#stretches = toStretches(parts, start, end);
    // A range may begin and end within blocks that are read whole.
    const bytes = (Math.ceil((end - start) / CONTENT_BLOCK_BYTES) + 1) * CONTENT_BLOCK_BYTES;
    const count = Math.min(MAX_READS, Math.ceil(bytes / READ_BYTES));
    this.#free = Array.from({ length: count }, () => Buffer.allocUnsafeSlow(Math.min(bytes, READ_BYTES)));
    this.depth = Math.max(count - 1, 1);
  }

  /**
   * The next bytes; undefined at the end.
   * @throws {DamagedContentError}
   */
  async next(): Promise<ContentBlock | undefined> {
    this.#readAhead();
    const block = this.#ahead.shift();
    if (block === undefined && !this.#isAtEnd) {
      throw new Error("All memory of this stream is in use.");
    }
    return block;
  }

  /** Gives memory back. */
  release({ memory }: ContentBlock): void {
    this.#free.push(memory);
    this.#readAhead();
  }

  /** To be called in any case; nothing is read afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closeReader();
    await Promise.all(this.#closing);
  }

  get #isAtEnd(): boolean {
    return this.#stretches.length === 0 && (this.#reader === undefined || this.#reader.isAtEnd);
  }

  #readAhead(): void {
    while (this.#free.length > 0 && !this.#isAtEnd && !this.#isClosed) {
      if (this.#reader === undefined || this.#reader.isAtEnd) {
        this.#closeReader();
        const stretch = this.#stretches.shift() as Stretch;
        this.#reader = this.#files.read(stretch.part, stretch.start, stretch.end, this.#key);
      }
      const memory = this.#free.pop() as Buffer;
      const block = this.#reader.read(memory).then((bytes) => ({ bytes: bytes as Buffer, memory }));
      // Who takes it is told of a failure; it may come before.
      block.catch(() => {});
      this.#ahead.push(block);
    }
  }

  #closeReader(): void {
    const closed = this.#reader?.close();
    this.#reader = undefined;
    if (closed !== undefined) {
      this.#closing.add(closed);
      closed.finally(() => this.#closing.delete(closed)).catch(() => {});
    }
  }
}

function toStretches(parts: readonly ContentPart[], start: number, end: number): Stretch[] {
  const stretches: Stretch[] = [];
  let offset = 0;
  for (const part of parts) {
    const from = Math.max(start - offset, 0);
    const until = Math.min(end - offset, part.size);
    if (from < until) {
      stretches.push({ part, start: from, end: until });
    }
    offset += part.size;
  }
  return stretches;
}
