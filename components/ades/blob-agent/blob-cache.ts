import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";

import type { BlobStore } from "../step-files/blob-store.ts";
import { saveBlob } from "../step-files/save-blob.ts";

/** A blob that a client may read now. */
export interface OpenBlob {
  readonly size: number;
  readonly body: Readable;
}

export interface CacheEvents {
  /** A blob was fetched from the object storage. */
  readonly onFetch: (bytes: number) => void;
  readonly onHit: () => void;
}

interface Entry {
  readonly path: string;
  readonly size: number;
}

/**
 * Blobs of this node's steps in a folder of limited size; the one used longest ago goes first. A blob belongs to a job: one that
 * another job has is fetched again, so that nobody learns what others have. A blob that many ask for at once is fetched once.
 */
export class BlobCache {
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #fetching = new Map<string, Promise<Entry | undefined>>();
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #store: BlobStore;
  readonly #events: CacheEvents;
  #bytes = 0;

  constructor(folder: string, maxBytes: number, store: BlobStore, events: CacheEvents) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#store = store;
    this.#events = events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Removes what an earlier process left. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const name of await readdir(this.#folder)) {
      await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  /** `undefined` where the job has no such blob. */
  async read(job: string, sha256: string, signal: AbortSignal): Promise<OpenBlob | undefined> {
    const key = `${job}/${sha256}`;
    const isCached = this.#entries.has(key);
    const known = isCached ? await this.#openEntry(key) : undefined;
    if (known !== undefined) {
      this.#events.onHit();
      return known;
    }
    const running = this.#fetching.get(key);
    if (running === undefined) {
      return this.#fetch(job, sha256, signal);
    }
    // The one who fetches it may fail for reasons of its own.
    const entry = await running.catch(() => undefined);
    const opened = entry && (await this.#openEntry(key));
    if (opened !== undefined) {
      this.#events.onHit();
      return opened;
    }
    return this.#fetching.has(key) ? this.read(job, sha256, signal) : this.#fetch(job, sha256, signal);
  }

  async #fetch(job: string, sha256: string, signal: AbortSignal): Promise<OpenBlob | undefined> {
    const key = `${job}/${sha256}`;
    const { promise, resolve, reject } = Promise.withResolvers<Entry | undefined>();
    promise.catch(() => {});
    this.#fetching.set(key, promise);
    try {
      const found = await this.#store.read(job, sha256, signal);
      if (found === undefined) {
        resolve(undefined);
        return undefined;
      }
      if (!(await this.#makeRoom(found.size))) {
        // Larger than the cache: it goes through, and the step's container checks it.
        resolve(undefined);
        this.#events.onFetch(found.size);
        return found;
      }
      const entry = { path: join(this.#folder, randomUUID()), size: found.size };
      try {
        await saveBlob(found.body, `${entry.path}.part`, { sha256, size: found.size });
        await rename(`${entry.path}.part`, entry.path);
      } catch (error) {
        this.#bytes -= found.size;
        found.body.destroy();
        throw error;
      }
      this.#entries.set(key, entry);
      this.#events.onFetch(found.size);
      resolve(entry);
      return await this.#openEntry(key);
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      this.#fetching.delete(key);
    }
  }

  async #openEntry(key: string): Promise<OpenBlob | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // Once it is open, its bytes stay until it is closed, also when its name is removed.
    const file = await open(entry.path).catch(() => undefined);
    if (file === undefined) {
      if (this.#entries.delete(key)) {
        this.#bytes -= entry.size;
      }
      return undefined;
    }
    return { size: entry.size, body: file.createReadStream({ highWaterMark: 2 ** 18 }) };
  }

  /** Reserves bytes; false where the cache cannot hold so many. */
  async #makeRoom(bytes: number): Promise<boolean> {
    if (bytes > this.#maxBytes) {
      return false;
    }
    this.#bytes += bytes;
    for (const [key, { path, size }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) {
        break;
      }
      this.#entries.delete(key);
      this.#bytes -= size;
      await rm(path, { force: true });
    }
    if (this.#bytes > this.#maxBytes) {
      this.#bytes -= bytes;
      return false;
    }
    return true;
  }
}
