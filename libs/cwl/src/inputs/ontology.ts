import { CwlError } from "../errors.ts";

export const subClassOf = "http://www.w3.org/2000/01/rdf-schema#subClassOf";
export const equivalentClass = "http://www.w3.org/2002/07/owl#equivalentClass";

/** Statements that one ontology may have; the largest of formats has some thousands. */
const MAX_STATEMENTS = 500_000;
/** Characters of an IRI; what is longer is none. */
const MAX_IRI = 2048;

/** Subclass and equivalence statements between formats. */
export class Ontology {
  private readonly parents = new Map<string, Set<string>>();
  private count = 0;

  /** @throws {CwlError} `limit` */
  add(child: string, parent: string): void {
    if (child.length > MAX_IRI || parent.length > MAX_IRI) {
      return;
    }
    const set = this.parents.get(child) ?? new Set();
    if (!set.has(parent)) {
      this.count += 1;
      if (this.count > MAX_STATEMENTS) {
        throw new CwlError("limit", `it has more than ${MAX_STATEMENTS} statements about classes`);
      }
      set.add(parent);
    }
    this.parents.set(child, set);
  }

  addEquivalent(a: string, b: string): void {
    this.add(a, b);
    this.add(b, a);
  }

  /** Whether `child` is `parent` or below it. */
  isA(child: string, parent: string): boolean {
    const seen = new Set<string>();
    const queue = [child];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === parent) {
        return true;
      }
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(...(this.parents.get(next) ?? []));
      }
    }
    return false;
  }

  /** Every pair of a class and one right above it. */
  pairs(): (readonly [string, string])[] {
    return [...this.parents].flatMap(([child, parents]) => [...parents].map((parent) => [child, parent] as const));
  }
}
