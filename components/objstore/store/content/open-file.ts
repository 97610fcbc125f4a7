import { closeSync, fdatasync, fsync, openSync, write } from "node:fs";
import { promisify } from "node:util";

import { createEncryption } from "../encryption/cipher.ts";
import { BlockChecksums, type ContentLabel } from "./content-trailer.ts";
import { type DigestName, type Digests, createDigests } from "../digests/digests.ts";

/**
 * Bytes after which the disk is set to work while more are coming. The system itself would keep a gigabyte in memory, and
 * the client would wait for all of it at the end.
 */
const FLUSH_BYTES = 16 << 20;

const SYSTEM = { write: promisify(write), fdatasync: promisify(fdatasync), fsync: promisify(fsync) };

/** Whatever waits for the disk on this thread, one after the other: more at once is not faster and would hold up everything else. */
let syncing: Promise<unknown> = Promise.resolve();

function queueSync(work: () => Promise<void>): Promise<void> {
  const done = syncing.then(work);
  syncing = done.catch(() => {});
  return done;
}

/** A content file while it is being written. */
export class OpenFile {
  readonly #descriptor: number;
  readonly #digests: Digests;
  readonly #memory: Uint8Array;
  readonly #blocks = new BlockChecksums();
  readonly #cipher: ReturnType<typeof createEncryption> | undefined;
  readonly #run: typeof SYSTEM;
  #size = 0;
  /** Writes that have not ended. */
  readonly #writing = new Set<Promise<void>>();
  #failure: Error | undefined;
  #unflushed = 0;
  /** Stays when it failed: the system tells of an error once, so a later fsync would not. */
  #flushing: Promise<void> | undefined;

  /** Makes the file at `path`, which must not exist. `memory` is where the bytes of `append` lie. */
  constructor(
    path: string,
    digests: readonly DigestName[],
    memory: Uint8Array,
    encryption?: { readonly key: Uint8Array; readonly seed: string },
    run = SYSTEM,
  ) {
    this.#run = run;
    this.#cipher = encryption && createEncryption(Buffer.from(encryption.key), encryption.seed);
    this.#descriptor = openSync(path, "wx", 0o600);
    this.#digests = createDigests(digests);
    this.#memory = memory;
  }

  /** Adds bytes of the memory: whole blocks, but for the last ones of the file. Resolves when they are written, though not yet on the disk, and their memory may be used again. */
  append(offset: number, length: number): Promise<void> {
    const plain = this.#memory.subarray(offset, offset + length);
    const bytes = this.#cipher === undefined ? plain : this.#cipher.update(plain);
    const written = this.#write(bytes, this.#size);
    this.#size += length;
    this.#writing.add(written);
    written
      .catch((error: unknown) => {
        this.#failure ??= error as Error;
      })
      .finally(() => this.#writing.delete(written));
    // Takes this thread, while others write.
    this.#digests.update(plain);
    this.#blocks.add(bytes);
    return written;
  }

  /** Adds what the file says of itself, forces all to the disk and gives the digests. */
  async finish(label: ContentLabel | undefined): Promise<Readonly<Partial<Record<DigestName, Uint8Array>>>> {
    await Promise.allSettled(this.#writing);
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    await this.#flushing;
    const digests = this.#digests.finish();
    const hex = Object.fromEntries(Object.entries(digests).map(([name, value]) => [name, value.toString("hex")]));
    await this.#write(this.#blocks.toTrailer(this.#size, { ...label, digests: hex }), this.#size);
    await queueSync(() => this.#run.fsync(this.#descriptor));
    return digests;
  }

  /**
   * Lets go of the file once nothing works on it any more: after one write has failed the others are still under way, and the next file
   * that is opened may get this one's number.
   */
  async close(): Promise<void> {
    await Promise.allSettled(this.#writing);
    await this.#flushing?.catch(() => {});
    closeSync(this.#descriptor);
  }

  async #write(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#run.write(
        this.#descriptor,
        bytes,
        done,
        bytes.length - done,
        position + done,
      );
      done += bytesWritten;
    }
    this.#unflushed += bytes.length;
    if (this.#unflushed >= FLUSH_BYTES && this.#flushing === undefined) {
      this.#unflushed = 0;
      this.#flushing = queueSync(() => this.#run.fdatasync(this.#descriptor)).then(() => {
        this.#flushing = undefined;
      });
      this.#flushing.catch(() => {});
    }
  }
}
