import { LRUCache } from "lru-cache";

import type { CollectionEntry } from "./collections.ts";

const TTL_MS = 5000;
const MAX_ENTRIES = 1000;

/**
 * Collections as writers last found them, for a moment. Whose a collection is never changes while its key is the same; a key that is gone is
 * noticed when something is written, and then looked up anew.
 */
export class CollectionMemory {
  readonly #entries = new LRUCache<string, CollectionEntry>({ max: MAX_ENTRIES, ttl: TTL_MS });

  find(id: string): CollectionEntry | undefined {
    return this.#entries.get(id);
  }

  remember(entry: CollectionEntry): void {
    this.#entries.set(entry.id, entry);
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }
}
