import type { IndexDatabase } from "./index-database.ts";

/** Keeps what was read from the index until anything in the index changes: then all of it is forgotten. */
export class ReadCache<Key, Value> {
  readonly #index: IndexDatabase;
  readonly #limit: number;
  readonly #known = new Map<Key, Value>();
  #knownAt = -1;

  constructor(index: IndexDatabase, limit: number) {
    this.#index = index;
    this.#limit = limit;
  }

  /** What is kept under `key`, or else what `read` gives. */
  get(key: Key, read: () => Value): Value {
    if (this.#knownAt !== this.#index.changes || this.#known.size >= this.#limit) {
      this.#known.clear();
      this.#knownAt = this.#index.changes;
    }
    let value = this.#known.get(key);
    if (value === undefined) {
      value = read();
      this.#known.set(key, value);
    }
    return value;
  }
}
