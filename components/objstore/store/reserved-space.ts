import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isDiskFull } from "./disk-full.ts";

/** Name of the file; volumes of earlier releases have it, too. */
const NAME = "ballast";

/**
 * A file that takes up space and is removed when the disk is full: a delete writes to the index's log before it frees anything, and without
 * that space it would fail, too.
 */
export class ReservedSpace {
  readonly #path: string;
  readonly #directory: string;
  readonly #bytes: number;

  constructor(directory: string, bytes: number) {
    this.#path = join(directory, NAME);
    this.#directory = directory;
    this.#bytes = bytes;
    this.restore();
  }

  /** Runs work that frees space; when the disk is too full even for that, removes the file and runs it once more. */
  async whileFull<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isDiskFull(error) || !existsSync(this.#path)) {
        throw error;
      }
      rmSync(this.#path, { force: true });
      return work();
    }
  }

  /** Writes the file again once twice its size is free. Called at intervals. */
  restore(): void {
    if (this.#bytes === 0 || existsSync(this.#path)) {
      return;
    }
    const { bavail, bsize } = statfsSync(this.#directory);
    if (bavail * bsize > 2 * this.#bytes) {
      try {
        // Real bytes: a sparse file would reserve nothing.
        writeFileSync(this.#path, Buffer.alloc(this.#bytes, 0x55), { mode: 0o600 });
      } catch (error) {
        rmSync(this.#path, { force: true });
        if (!isDiskFull(error)) {
          throw error;
        }
      }
    }
  }
}
