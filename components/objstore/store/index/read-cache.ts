import type { IndexDatabase } from "./index-database.ts";

/** A value that was changed to nothing, or to what has to be read again. */
const GONE = Symbol("gone");

/**
 * Keeps what was read from the index, apart for readers and for changes. Whoever changes a row says so by `set` or `forget`
 * inside the change; readers see that once the change is on the disk, and never when it is undone. The oldest values go first.
 */
export class ReadCache<Key, Value> {
  readonly #index: IndexDatabase;
  readonly #limit: number;
  readonly #weigh: (value: Value) => number;
  /** What readers see. */
  readonly #known = new Map<Key, Value>();
  #weight = 0;
  /** Of changes that are committed and on their way to the disk. */
  #syncing = new Changes<Key, Value>();
  /** Of changes that are not committed. */
  #open = new Changes<Key, Value>();

  /** `limit` is of the sum of what `weigh` gives: values, or bytes. */
  constructor(index: IndexDatabase, limit: number, weigh: (value: Value) => number = () => 1) {
    this.#index = index;
    this.#limit = limit;
    this.#weigh = weigh;
    index.onBatch({
      commit: () => {
        this.#syncing = this.#open;
        this.#open = new Changes();
      },
      durable: () => this.#publish(),
      undo: () => this.#open.forgetValues(),
    });
  }

  /** What is kept under `key`, or else what `read` gives. */
  get(key: Key, read: () => Value): Value {
    if (this.#index.isChanging) {
      const changed = this.#open.find(key) ?? this.#syncing.find(key);
      if (changed !== undefined) {
        return changed === GONE ? read() : changed;
      }
    }
    const value = this.#known.get(key);
    if (value !== undefined) {
      return value;
    }
    const found = read();
    if (!this.#index.isChanging) {
      this.#keep(key, found);
    }
    return found;
  }

  /** Inside a change. */
  set(key: Key, value: Value): void {
    this.#open.values.set(key, value);
  }

  /** Inside a change. */
  forget(key: Key): void {
    this.#open.values.set(key, GONE);
  }

  /** Inside a change: nothing that is kept may be believed any more. */
  clear(): void {
    this.#open.values.clear();
    this.#open.all = true;
  }

  #publish(): void {
    const { all, values } = this.#syncing;
    this.#syncing = new Changes();
    if (all) {
      this.#known.clear();
      this.#weight = 0;
    }
    for (const [key, value] of values) {
      const before = this.#known.get(key);
      if (before !== undefined) {
        this.#known.delete(key);
        this.#weight -= this.#weigh(before);
      }
      if (value !== GONE) {
        this.#keep(key, value);
      }
    }
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
}

/** What the changes of one batch say of a cache. */
class Changes<Key, Value> {
  readonly values = new Map<Key, Value | typeof GONE>();
  /** Everything that is not among the values is to be read again. */
  all = false;

  /** Undefined when these changes say nothing of `key`. */
  find(key: Key): Value | typeof GONE | undefined {
    return this.values.get(key) ?? (this.all ? GONE : undefined);
  }

  /** Some of the values may be of a change that was undone. */
  forgetValues(): void {
    for (const key of this.values.keys()) {
      this.values.set(key, GONE);
    }
  }
}
