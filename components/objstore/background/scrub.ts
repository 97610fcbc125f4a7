import { setTimeout as sleep } from "node:timers/promises";

import { DamagedContentError } from "../store/content/content-reader.ts";
import { CONTENT_BLOCK_BYTES, type Trailer, readTrailer } from "../store/content/content-trailer.ts";
import { isSound } from "../store/content/contents.ts";
import { createDigests } from "../store/digests/digests.ts";
import type { ObjectStore } from "../store/store.ts";
import type { Damage, Damages } from "./damages.ts";

interface StoredFile {
  readonly id: string;
  readonly size: number;
  /** `<algorithm>:<hex>` */
  readonly digest: string;
  /** 1: what the file says of itself follows its bytes. */
  readonly form: 0 | 1;
}

export interface ScrubReport {
  readonly started: number;
  readonly finished: number | undefined;
  readonly checked: number;
  readonly damaged: readonly Damage[];
}

/** Reads stored content again and compares it with the digest taken when it came; damage is noted in the index and reported. */
export class Scrub {
  readonly #store: ObjectStore;
  readonly #damages: Damages;
  #report: ScrubReport = { started: 0, finished: 0, checked: 0, damaged: [] };

  constructor(store: ObjectStore, damages: Damages) {
    this.#store = store;
    this.#damages = damages;
  }

  get report(): ScrubReport {
    return this.#report;
  }

  /** One pass over everything, at most `bytesPerSecond` of files. Does nothing while a pass is running. */
  async run(signal: AbortSignal, bytesPerSecond = Infinity): Promise<ScrubReport> {
    if (this.#report.finished === undefined) {
      return this.#report;
    }
    const { index } = this.#store;
    this.#report = { started: this.#store.now(), finished: undefined, checked: 0, damaged: [] };
    try {
      for (let after = ""; !signal.aborted;) {
        const file = index.get<StoredFile>(
          "select id, size, digest, form from files where id > ? and garbage = 0 order by id limit 1",
          after,
        );
        if (file === undefined) {
          break;
        }
        after = file.id;
        await this.#note(file.id, await this.#checkFile(file));
        await sleep((file.size / bytesPerSecond) * 1000);
      }
      for (let after = 0; !signal.aborted;) {
        const rows = index.all<{ id: number; md5: string; data: Uint8Array | null; crc: number | null }>(
          "select id, md5, data, crc from contents where id > ? and parts is null order by id limit 100",
          after,
        );
        if (rows.length === 0) {
          break;
        }
        for (const row of rows) {
          const file = `index:${row.id}`;
          const what = isSound(row) ? undefined : "the bytes in the index are not those that were stored";
          this.#count(what === undefined ? undefined : { file, what });
          await this.#damages.note(file, what);
        }
        after = rows.at(-1)?.id ?? Infinity;
        await sleep(1);
      }
    } finally {
      this.#report = { ...this.#report, finished: this.#store.now() };
    }
    return this.#report;
  }

  /** What is wrong with a file; undefined: nothing. */
  #checkFile(file: StoredFile): Promise<string | undefined> {
    return file.form === 1 ? this.#checkBlocks(file) : this.#checkDigest(file);
  }

  /** By the checksums at the end of the file: the digest of an encrypted file is of what came, not of what is stored. */
  async #checkBlocks({ id, size }: StoredFile): Promise<string | undefined> {
    try {
      const handle = await this.#store.files.open(id);
      let trailer: Trailer | undefined;
      try {
        trailer = await readTrailer(handle);
      } finally {
        await handle.close();
      }
      if (trailer?.size !== size) {
        return "does not end with what it says of itself";
      }
      if (size > 0) {
        const reader = this.#store.files.read({ file: id, size, form: 1 }, 0, size);
        try {
          const memory = Buffer.allocUnsafeSlow(4 * CONTENT_BLOCK_BYTES);
          while ((await reader.read(memory)) !== undefined) {
            // Reading verifies.
          }
        } finally {
          await reader.close();
        }
      }
      return undefined;
    } catch (error) {
      return error instanceof DamagedContentError
        ? "does not have the content that was stored"
        : `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async #checkDigest({ id, size, digest: expected }: StoredFile): Promise<string | undefined> {
    // Older releases knew the files of some large objects by their CRC only.
    const algorithm = expected.startsWith("crc32:") ? "crc32" : "md5";
    const digests = createDigests([algorithm]);
    let length = 0;
    try {
      const handle = await this.#store.files.open(id);
      for await (const chunk of handle.createReadStream({ highWaterMark: 256 << 10 })) {
        digests.update(chunk as Buffer);
        length += (chunk as Buffer).length;
      }
    } catch (error) {
      return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (length !== size) {
      return `is ${length} bytes long instead of ${size}`;
    }
    const found = digests.finish()[algorithm]?.toString("hex");
    return `${algorithm}:${found}` === expected ? undefined : "does not have the content that was stored";
  }

  async #note(id: string, what: string | undefined): Promise<void> {
    const { index } = this.#store;
    const row = index.get<{ garbage: number; damage: string | null }>(
      "select garbage, damage from files where id = ?",
      id,
    );
    if (row === undefined || row.garbage === 1) {
      return;
    }
    this.#count(what === undefined ? undefined : { file: id, what });
    await this.#damages.note(id, what);
  }

  #count(damage: Damage | undefined): void {
    const { checked, damaged } = this.#report;
    this.#report = {
      ...this.#report,
      checked: checked + 1,
      damaged: damage === undefined ? damaged : [...damaged, damage],
    };
  }
}
