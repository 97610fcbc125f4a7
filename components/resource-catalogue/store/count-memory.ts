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
  readonly #counts = new Map<string, { readonly matched: Matched; readonly until: number }>();

  /** What was counted, where nothing has changed since. */
  find(statement: Statement): Matched | undefined {
    const found = this.#counts.get(keyOf(statement));
    return found !== undefined && found.until > Date.now() ? found.matched : undefined;
  }

  remember(statement: Statement, matched: Matched): void {
    if (!matched.isLowerBound && matched.count < WORTH_REMEMBERING) {
      return;
    }
    if (this.#counts.size >= MAX_SEARCHES) {
      this.#counts.clear();
    }
    this.#counts.set(keyOf(statement), { matched, until: Date.now() + TTL_MS });
  }

  forget(): void {
    this.#counts.clear();
  }
}

/** Rights are part of a statement. */
const keyOf = ({ text, values }: Statement): string => `${text}\n${JSON.stringify(values)}`;
