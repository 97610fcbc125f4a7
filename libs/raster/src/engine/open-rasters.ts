import { checkCancelled, toCancelled } from "../errors.ts";
import { openRaster } from "../readers/open-raster.ts";
import type { Raster } from "../readers/raster.ts";
import { type SourceLocation, describeLocation } from "../sources/source.ts";

/** How long a remote object is taken to be unchanged, unless the caller says so. Files are looked at each time. */
const MAX_UNVERIFIED_MS = 5000;

interface Entry {
  readonly raster: Promise<Raster>;
  /** Ends the opening once nobody waits for it any more. */
  readonly opening: AbortController;
  isOpen: boolean;
  users: number;
  verifiedAt: number;
  isEvicted: boolean;
}

/** Gives open rasters to those who read them. */
export type UseRasters = Pick<OpenRasters, "use">;

/** Keeps rasters open between requests, and opens them again once they have changed. */
export class OpenRasters {
  readonly #max: number;
  readonly #maxUnverifiedMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(max: number, maxUnverifiedMs = MAX_UNVERIFIED_MS) {
    this.#max = max;
    this.#maxUnverifiedMs = maxUnverifiedMs;
  }

  async use<T>(location: SourceLocation, work: (raster: Raster) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const entry = await this.#acquire(location, signal);
    try {
      return await work(await orCancelled(entry.raster, signal));
    } finally {
      this.#release(entry);
    }
  }

  /** The same rasters; notes the version of each that is used, by its location. */
  noting(versions: Map<string, string>): UseRasters {
    return {
      use: (location, work, signal) =>
        this.use(
          location,
          (raster) => {
            versions.set(describeLocation(location), raster.key);
            return work(raster);
          },
          signal,
        ),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((key) => this.#evict(key)));
  }

  async #acquire(location: SourceLocation, signal: AbortSignal | undefined): Promise<Entry> {
    const key = describeLocation(location);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.users += 1;
      try {
        if (await this.#isCurrent(known, location, signal)) {
          this.#entries.delete(key);
          this.#entries.set(key, known);
          return known;
        }
      } catch (error) {
        this.#release(known);
        throw error;
      }
      this.#release(known);
      if (this.#entries.get(key) === known) {
        await this.#evict(key);
      }
    }
    const other = this.#entries.get(key);
    if (other !== undefined && other !== known) {
      other.users += 1;
      return other;
    }
    // Not bound to this caller's signal: others may join while it opens.
    const opening = new AbortController();
    const entry: Entry = {
      raster: openRaster(location, opening.signal),
      opening,
      isOpen: false,
      users: 1,
      verifiedAt: Date.now(),
      isEvicted: false,
    };
    this.#entries.set(key, entry);
    const forget = () => {
      if (this.#entries.get(key) === entry) {
        this.#entries.delete(key);
      }
    };
    opening.signal.addEventListener("abort", forget, { once: true });
    entry.raster.then(() => {
      entry.isOpen = true;
    }, forget);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) {
        break;
      }
      void this.#evict(oldest);
    }
    return entry;
  }

  async #isCurrent(entry: Entry, { kind }: SourceLocation, signal: AbortSignal | undefined): Promise<boolean> {
    if (kind !== "file" && Date.now() - entry.verifiedAt < this.#maxUnverifiedMs) {
      return true;
    }
    const isCurrent = await (await orCancelled(entry.raster, signal)).isCurrent(signal);
    entry.verifiedAt = Date.now();
    return isCurrent;
  }

  #release(entry: Entry): void {
    entry.users -= 1;
    if (entry.users === 0 && !entry.isOpen) {
      entry.opening.abort();
    }
    if (entry.isEvicted && entry.users === 0) {
      void entry.raster.then((raster) => raster.close()).catch(() => undefined);
    }
  }

  async #evict(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry !== undefined && !entry.isEvicted) {
      entry.isEvicted = true;
      entry.users += 1;
      this.#release(entry);
    }
  }
}

/** What is waited for until the caller gives up. */
function orCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return work;
  }
  checkCancelled(signal);
  return new Promise((resolve, reject) => {
    const abort = () => reject(toCancelled(signal));
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
