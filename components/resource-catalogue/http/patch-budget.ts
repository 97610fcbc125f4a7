import type { Problem } from "@swath/service";

import { problem } from "./errors.ts";

/** Characters of JSON that the operations of one patch may write, about. */
const MAX_WRITTEN = 4 * 2 ** 20;
/** Values that the operations of one patch may copy. */
const MAX_COPIED_VALUES = 150_000;
/** Places that entries of arrays may be moved by, in all: each `add` or `remove` moves the entries behind it. */
const MAX_SHIFTED = 5_000_000;
/** Objects and arrays inside each other. */
export const MAX_PATCH_DEPTH = 100;

/** What one patch may still do to a document. It is spent before the work is done, so that no operation is larger than what is left. */
export class PatchBudget {
  #written = MAX_WRITTEN;
  #values = MAX_COPIED_VALUES;
  #shifted = MAX_SHIFTED;

  /** A copy of a JSON value. @throws {Problem} 413 where it is larger than what is left */
  copy(value: unknown, what: string, depth = 0): unknown {
    this.#values -= 1;
    this.#written -= typeof value === "string" ? value.length + 2 : 4;
    this.#require(this.#values >= 0, what, `copies more than ${MAX_COPIED_VALUES} values`);
    this.#require(this.#written >= 0, what, `makes the document more than ${MAX_WRITTEN} characters longer`);
    if (typeof value !== "object" || value === null) {
      return value;
    }
    this.#require(depth < MAX_PATCH_DEPTH, what, `nests more than ${MAX_PATCH_DEPTH} objects and arrays`);
    if (Array.isArray(value)) {
      return value.map((entry) => this.copy(entry, what, depth + 1));
    }
    const copied: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      this.#written -= key.length + 3;
      const copy = this.copy(member, what, depth + 1);
      if (key === "__proto__") {
        // Assignment would set the prototype.
        Object.defineProperty(copied, key, { value: copy, writable: true, enumerable: true, configurable: true });
      } else {
        copied[key] = copy;
      }
    }
    return copied;
  }

  /** @throws {Problem} 413 where an array would be moved further than what is left */
  shift(entries: number, what: string): void {
    this.#shifted -= entries;
    this.#require(this.#shifted >= 0, what, "changes the beginning of long lists too often; replace the lists");
  }

  #require(isWithin: boolean, what: string, rule: string): void {
    if (!isWithin) {
      throw tooLarge(`${what} of the JSON Patch ${rule}.`);
    }
  }
}

/** Looks at every value once, without recursion. @throws {Problem} 413 for a value that is nested deeper than `MAX_PATCH_DEPTH` */
export function requirePatchDepth(value: unknown, what: string): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_PATCH_DEPTH) {
      throw tooLarge(`${what} nests more than ${MAX_PATCH_DEPTH} objects and arrays inside each other.`);
    }
    const next: unknown[] = [];
    for (const entry of level) {
      if (typeof entry === "object" && entry !== null) {
        for (const member of Array.isArray(entry) ? entry : Object.values(entry)) {
          if (typeof member === "object" && member !== null) {
            next.push(member);
          }
        }
      }
    }
    level = next;
  }
}

const tooLarge = (description: string): Problem => problem(413, "TooLarge", description);
