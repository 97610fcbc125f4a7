import type { CollectionEntry } from "./collections.ts";

const TTL_MS = 5000;
const MAX_ENTRIES = 1000;

/**
 * Collections as writers last found them, for a moment. Whose a collection is never changes while its key is the same; a key that is gone is
 * noticed when something is written, and then looked up anew.
 */
export class CollectionMemory {
  readonly #entries = new Map<string, { readonly entry: CollectionEntry; readonly until: number }>();

  find(id: string): CollectionEntry | undefined {
    const known = this.#entries.get(id);
    return known !== undefined && known.until > Date.now() ? known.entry : undefined;
  }

  remember(entry: CollectionEntry): void {
    if (this.#entries.size >= MAX_ENTRIES) {
      this.#entries.clear();
    }
    this.#entries.set(entry.id, { entry, until: Date.now() + TTL_MS });
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }
}
