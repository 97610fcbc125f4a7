import type { Statement } from "../query/compile-search.ts";

/** How long it is remembered at most, and of how many searches. */
const TTL_MS = 10_000;
const MAX_SEARCHES = 2000;

/**
 * Which searches match more records than are counted: the newest of a large collection are asked for again and again, and counting up to the
 * cap costs more than the page itself. Whoever hears of a change forgets all.
 */
export class CountMemory {
  readonly #until = new Map<string, number>();

  /** Whether it was beyond the cap, and nothing has changed since. */
  isBeyondCap(statement: Statement): boolean {
    const until = this.#until.get(keyOf(statement));
    return until !== undefined && until > Date.now();
  }

  remember(statement: Statement): void {
    if (this.#until.size >= MAX_SEARCHES) {
      this.#until.clear();
    }
    this.#until.set(keyOf(statement), Date.now() + TTL_MS);
  }

  forget(): void {
    this.#until.clear();
  }
}

/** Rights are part of a statement. */
const keyOf = ({ text, values }: Statement): string => `${text}\n${JSON.stringify(values)}`;
