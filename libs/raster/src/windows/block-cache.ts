import { LRUCache } from "lru-cache";

import { checkCancelled, toCancelled } from "../errors.ts";
import type { Block, BlockAddress, Raster } from "../readers/raster.ts";

/** What the bookkeeping of an entry costs, so that millions of empty blocks are bounded as well. */
const ENTRY_BYTES = 256;

type Result = Block | undefined;

/** Blocks that are read together; the read is cancelled once no caller waits for it. */
interface Load {
  readonly done: Promise<Result>;
  readonly join: () => void;
  readonly leave: () => void;
}

/** Decoded blocks of all open rasters in bounded memory; the least recently used go first. */
export class BlockCache {
  readonly #entries: LRUCache<string, { readonly block: Result; readonly bytes: number }>;
  readonly #loads = new Map<string, Load>();
  hits = 0;
  misses = 0;

  constructor(maxBytes: number) {
    // Without any memory, nothing is small enough to be kept.
    this.#entries = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: ({ bytes }) => bytes });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Blocks in the order of the addresses. Missing ones are read together, and once for all callers at the same time. */
  async read(raster: Raster, addresses: readonly BlockAddress[], signal?: AbortSignal): Promise<readonly Result[]> {
    checkCancelled(signal);
    const keys = addresses.map((address) => toKey(raster, address));
    const missing = new Map<string, BlockAddress>();
    for (const [index, key] of keys.entries()) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) {
        this.hits += 1;
      } else if (!this.#loads.has(key)) {
        this.misses += 1;
        missing.set(key, addresses[index] as BlockAddress);
      }
    }
    if (missing.size > 0) {
      this.#start(raster, missing);
    }
    const joined: Load[] = [];
    const results = keys.map((key): Result | Promise<Result> => {
      const load = this.#loads.get(key);
      if (load === undefined) {
        return this.#entries.peek(key)?.block;
      }
      load.join();
      joined.push(load);
      return load.done;
    });
    return joined.length === 0
      ? (results as Result[])
      : waitFor(Promise.all(results.map((result) => Promise.resolve(result))), joined, signal);
  }

  #start(raster: Raster, missing: ReadonlyMap<string, BlockAddress>): void {
    const controller = new AbortController();
    let waiting = 0;
    const keys = [...missing.keys()];
    const all = raster.readBlocks([...missing.values()], controller.signal);
    const forget = () => {
      for (const key of keys) {
        this.#loads.delete(key);
      }
    };
    all.then((blocks) => {
      forget();
      for (const [index, key] of keys.entries()) {
        this.#keep(key, blocks[index]);
      }
    }, forget);
    for (const [index, key] of keys.entries()) {
      const done = all.then((blocks) => blocks[index]);
      // Every caller may have left before it fails.
      done.catch(() => undefined);
      this.#loads.set(key, {
        done,
        join: () => {
          waiting += 1;
        },
        leave: () => {
          waiting -= 1;
          if (waiting === 0) {
            forget();
            controller.abort();
          }
        },
      });
    }
  }

  #keep(key: string, block: Result): void {
    const bytes = ENTRY_BYTES + (block?.reduce((sum, samples) => sum + samples.byteLength, 0) ?? 0);
    if (!this.#entries.has(key)) {
      this.#entries.set(key, { block, bytes });
    }
  }
}

function waitFor<T>(all: Promise<T>, loads: readonly Load[], signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return all;
  }
  return new Promise((resolve, reject) => {
    const abort = () => {
      all.catch(() => undefined);
      for (const load of loads) {
        load.leave();
      }
      reject(toCancelled(signal));
    };
    signal.addEventListener("abort", abort, { once: true });
    all.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function toKey(raster: Raster, { level, group, column, row }: BlockAddress): string {
  return `${raster.key}|${level}|${group}|${column}|${row}`;
}
