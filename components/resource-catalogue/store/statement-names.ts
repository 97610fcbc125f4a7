import { createHash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { Statement } from "../query/compile-search.ts";

/** Statements that are kept planned, and how often one must have come to be. */
const MAX_NAMES = 300;
const MAX_WATCHED = 5000;
const MIN_USES = 3;

/** Which statements are planned once per connection: those that come again and again. Others would fill the server's memory. */
export class StatementNames {
  readonly #uses = new LRUCache<string, number>({ max: MAX_WATCHED });
  /** Statements that name partitions of before are not used again, and make room. */
  readonly #names = new LRUCache<string, string>({ max: MAX_NAMES });

  prepare(statement: Statement): Statement {
    const { text } = statement;
    const known = this.#names.get(text);
    if (known !== undefined) {
      return { ...statement, text: known };
    }
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < MIN_USES) {
      this.#uses.set(text, uses);
      return statement;
    }
    this.#uses.delete(text);
    const name = `s-${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
    const named = `/* prepared: ${name} */ ${text}`;
    this.#names.set(text, named);
    return { ...statement, text: named };
  }
}
