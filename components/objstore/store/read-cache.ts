import type { IndexDatabase } from "./index-database.ts";

/**
 * Keeps what was read from the index. Whoever changes a row says so by `set` or `forget`; when a change is undone, all is
 * forgotten, because what was kept may be of that change. The oldest values go first.
 */
export class ReadCache<Key, Value> {
  readonly #index: IndexDatabase;
  readonly #limit: number;
  readonly #weigh: (value: Value) => number;
  readonly #known = new Map<Key, Value>();
  #weight = 0;
  #knownAt: number;

  /** `limit` is of the sum of what `weigh` gives: values, or bytes. */
  constructor(index: IndexDatabase, limit: number, weigh: (value: Value) => number = () => 1) {
    this.#index = index;
    this.#limit = limit;
    this.#weigh = weigh;
    this.#knownAt = index.undone;
  }

  /** What is kept under `key`, or else what `read` gives. */
  get(key: Key, read: () => Value): Value {
    this.#check();
    const value = this.#known.get(key);
    if (value !== undefined) {
      return value;
    }
    const found = read();
    this.#keep(key, found);
    return found;
  }

  set(key: Key, value: Value): void {
    this.forget(key);
    this.#keep(key, value);
  }

  forget(key: Key): void {
    this.#check();
    const value = this.#known.get(key);
    if (value !== undefined && this.#known.delete(key)) {
      this.#weight -= this.#weigh(value);
    }
  }

  clear(): void {
    this.#known.clear();
    this.#weight = 0;
  }

  #keep(key: Key, value: Value): void {
    // That something is not there is cheap to find out, and whoever makes it might not say so.
    if (value === undefined) {
      return;
    }
    this.#known.set(key, value);
    this.#weight += this.#weigh(value);
    while (this.#weight > this.#limit) {
      const [oldest, dropped] = this.#known.entries().next().value as [Key, Value];
      this.#known.delete(oldest);
      this.#weight -= this.#weigh(dropped);
    }
  }

  #check(): void {
    if (this.#knownAt !== this.#index.undone) {
      this.clear();
      this.#knownAt = this.#index.undone;
    }
  }
}
