import { createHash } from "node:crypto";

import type { Statement } from "../query/compile-search.ts";

/** Statements that are kept planned, and how often one must have come to be. */
const MAX_NAMES = 300;
const MAX_WATCHED = 5000;
const MIN_USES = 3;

/** Which statements are planned once per connection: those that come again and again. Others would fill the server's memory. */
export class StatementNames {
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  prepare(statement: Statement): Statement {
    const { text } = statement;
    const known = this.#names.get(text);
    if (known !== undefined) {
      this.#names.delete(text);
      this.#names.set(text, known);
      return { ...statement, text: known };
    }
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < MIN_USES) {
      if (this.#uses.size >= MAX_WATCHED) {
        this.#uses.clear();
      }
      this.#uses.set(text, uses);
      return statement;
    }
    this.#uses.delete(text);
    const name = `s-${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
    const named = `/* prepared: ${name} */ ${text}`;
    // In the order of their last use: statements that name partitions of before are not used again.
    const [oldest] = this.#names.keys();
    if (oldest !== undefined && this.#names.size >= MAX_NAMES) {
      this.#names.delete(oldest);
    }
    this.#names.set(text, named);
    return { ...statement, text: named };
  }
}
