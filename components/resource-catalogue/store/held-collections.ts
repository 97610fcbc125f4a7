import { HELD_DETAIL, Problem, isHeldByOthers } from "@swath/service";
import type pg from "pg";

/** A collection in which a write has waited in vain is written to one at a time for so long. */
const REMEMBERED_MS = 10_000;
/** Writes that wait for their turn; more are refused at once. */
const MAX_WAITING = 16;

interface Lane {
  until: number;
  waiting: number;
  last: Promise<unknown>;
}

/**
 * Keeps writes of a collection that something holds, such as a load, from waiting with all connections: after the first that gave up, those
 * of the same collection follow each other.
 */
class HeldCollections {
  readonly #lanes = new Map<number, Lane>();

  isHeld(collection: number): boolean {
    const lane = this.#lanes.get(collection);
    return lane !== undefined && (lane.waiting > 0 || lane.until >= Date.now());
  }

  /** @throws {Problem} 503 with Retry-After where too many wait */
  async write<T>(collection: number, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(collection);
    if (lane === undefined || !this.isHeld(collection)) {
      this.#lanes.delete(collection);
      return this.#try(collection, work);
    }
    if (lane.waiting >= MAX_WAITING) {
      throw new Problem(503, HELD_DETAIL, { headers: { "retry-after": "10" } });
    }
    lane.waiting += 1;
    const written = lane.last.then(() => this.#try(collection, work));
    lane.last = written.then(
      () => (lane.waiting -= 1),
      () => (lane.waiting -= 1),
    );
    return written;
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
  const held = ofPools.get(pool) ?? new HeldCollections();
  ofPools.set(pool, held);
  return held.write(collection, work);
}
