import { HELD_DETAIL, Problem, isHeldByOthers } from "@swath/service";
import type pg from "pg";

/** A collection in which a write has waited in vain is written to one at a time for so long. */
const REMEMBERED_MS = 10_000;
/** Writes that wait for their turn; more are refused at once. */
const MAX_WAITING = 16;
/** Writes of all collections that wait for a connection; more are refused at once. */
const MAX_QUEUED = 2000;
/** Connections that writes of one collection leave to others: whether the first writes will wait is not known yet. */
const LEFT_BY_COLLECTION = 2;
/** Connections that the writes of all collections leave to other statements. */
const LEFT_BY_ALL = 1;

interface Lane {
  until: number;
  waiting: number;
  last: Promise<unknown>;
}

interface Entry {
  readonly collection: number;
  readonly start: () => void;
}

/**
 * Keeps writes of a collection that something holds, such as a load, from waiting with all connections: they never have all of them at once,
 * and after the first that gave up, those of the same collection follow each other.
 */
class HeldCollections {
  readonly #lanes = new Map<number, Lane>();
  readonly #most: { readonly ofCollection: number; readonly ofAll: number };
  /** Writes that have a connection, by collection. */
  readonly #running = new Map<number, number>();
  #queue: Entry[] = [];
  #total = 0;

  constructor(connections: number) {
    this.#most = {
      ofCollection: Math.max(1, connections - LEFT_BY_COLLECTION),
      ofAll: Math.max(1, connections - LEFT_BY_ALL),
    };
  }

  isHeld(collection: number): boolean {
    const lane = this.#lanes.get(collection);
    return lane !== undefined && (lane.waiting > 0 || lane.until >= Date.now());
  }

  /** @throws {Problem} 503 with Retry-After where too many wait */
  async write<T>(collection: number, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(collection);
    if (lane === undefined || !this.isHeld(collection)) {
      this.#lanes.delete(collection);
      await this.#enter(collection);
      try {
        if (!this.isHeld(collection)) {
          return await this.#try(collection, work);
        }
      } finally {
        this.#leave(collection);
      }
      // One of those before it waited in vain.
      return this.write(collection, work);
    }
    if (lane.waiting >= MAX_WAITING) {
      throw new Problem(503, HELD_DETAIL, { headers: { "retry-after": "10" } });
    }
    lane.waiting += 1;
    const written = lane.last
      .then(() => this.#enter(collection))
      .then(() => this.#try(collection, work).finally(() => this.#leave(collection)));
    lane.last = written.then(
      () => (lane.waiting -= 1),
      () => (lane.waiting -= 1),
    );
    return written;
  }

  /** Waits for a connection that this collection may have. @throws {Problem} 503 with Retry-After where too many wait */
  async #enter(collection: number): Promise<void> {
    if (this.#queue.length >= MAX_QUEUED) {
      throw new Problem(503, "The catalogue has more writes waiting than it takes; try again in a moment.", {
        headers: { "retry-after": "2" },
      });
    }
    await new Promise<void>((start) => {
      this.#queue.push({ collection, start });
      this.#startNext();
    });
  }

  #leave(collection: number): void {
    this.#total -= 1;
    const running = (this.#running.get(collection) ?? 1) - 1;
    if (running === 0) {
      this.#running.delete(collection);
    } else {
      this.#running.set(collection, running);
    }
    this.#startNext();
  }

  #startNext(): void {
    if (this.#total >= this.#most.ofAll) {
      return;
    }
    const waiting: Entry[] = [];
    for (const entry of this.#queue) {
      const running = this.#running.get(entry.collection) ?? 0;
      if (this.#total < this.#most.ofAll && running < this.#most.ofCollection) {
        this.#total += 1;
        this.#running.set(entry.collection, running + 1);
        entry.start();
      } else {
        waiting.push(entry);
      }
    }
    this.#queue = waiting;
  }

  async #try<T>(collection: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isHeldByOthers(error)) {
        const lane = this.#lanes.get(collection) ?? { until: 0, waiting: 0, last: Promise.resolve() };
        lane.until = Date.now() + REMEMBERED_MS;
        this.#lanes.set(collection, lane);
      }
      throw error;
    }
  }
}

/** Of each pool, as it is its connections that are kept free. */
const ofPools = new WeakMap<pg.Pool, HeldCollections>();

/** Whether writes of a collection wait for each other now. */
export const isHeld = (pool: pg.Pool, collection: number): boolean => ofPools.get(pool)?.isHeld(collection) === true;

/** Writes a record, or deletes one or its collection. @throws {Problem} 503 where too many writes wait for the same collection */
export function writeOne<T>(pool: pg.Pool, collection: number, work: () => Promise<T>): Promise<T> {
  const held = ofPools.get(pool) ?? new HeldCollections(pool.options.max);
  ofPools.set(pool, held);
  return held.write(collection, work);
}
