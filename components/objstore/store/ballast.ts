import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isDiskFull } from "./disk-full.ts";

const NAME = "ballast";

/**
 * A file that only takes room, given up when the disk is full: deleting takes some bytes of the index's log before it frees any, and
 * without them nobody could make room.
 */
export class Ballast {
  readonly #path: string;
  readonly #directory: string;
  readonly #bytes: number;

  constructor(directory: string, bytes: number) {
    this.#path = join(directory, NAME);
    this.#directory = directory;
    this.#bytes = bytes;
    this.restore();
  }

  /** Runs what makes room; where the disk is too full even for that, once more with the room of the ballast. */
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

  /** Takes the room again, once there is twice as much. Called at intervals. */
  restore(): void {
    if (this.#bytes === 0 || existsSync(this.#path)) {
      return;
    }
    const { bavail, bsize } = statfsSync(this.#directory);
    if (bavail * bsize > 2 * this.#bytes) {
      try {
        // Written out: a file of holes would take no room.
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
