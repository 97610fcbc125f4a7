import { LRUCache } from "lru-cache";

import type { Statement } from "../query/compile-search.ts";
import type { Matched } from "../query/search-request.ts";

/** How long it is remembered at most, and of how many searches. */
const TTL_MS = 10_000;
const MAX_SEARCHES = 2000;
/** Fewer are counted as fast as they are looked up. */
const WORTH_REMEMBERING = 1000;

/**
 * How many records searches match that match many: the newest of a large collection are asked for again and again, harvesters page through
 * one search, and counting costs more than the page itself. Each process forgets all of it when it hears of a change.
 */
export class CountMemory {
  readonly #counts = new LRUCache<string, Matched>({ max: MAX_SEARCHES, ttl: TTL_MS });

  /** What was counted, where nothing has changed since. */
  find(statement: Statement): Matched | undefined {
    return this.#counts.get(keyOf(statement));
  }

  remember(statement: Statement, matched: Matched): void {
    if (!matched.isLowerBound && matched.count < WORTH_REMEMBERING) {
      return;
    }
    this.#counts.set(keyOf(statement), matched);
  }

  forget(): void {
    this.#counts.clear();
  }
}

/** Rights are part of a statement. */
const keyOf = ({ text, values }: Statement): string => `${text}\n${JSON.stringify(values)}`;
