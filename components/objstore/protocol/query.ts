/** Parameters of a request target, decoded, in the order they came. */
export type QueryPairs = readonly (readonly [name: string, value: string])[];

/** A look at parameters by name. A map does it too. */
export interface Parameters {
  /** Of several of one name the last. */
  readonly get: (name: string) => string | undefined;
  readonly has: (name: string) => boolean;
}

/** Looks parameters up in their list: a request has a handful, and hashing them into a map takes longer than looking through. */
export class Query implements Parameters {
  readonly #pairs: QueryPairs;

  constructor(pairs: QueryPairs) {
    this.#pairs = pairs;
  }

  get(name: string): string | undefined {
    const pairs = this.#pairs;
    for (let at = pairs.length - 1; at >= 0; at -= 1) {
      const pair = pairs[at];
      if (pair !== undefined && pair[0] === name) {
        return pair[1];
      }
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Each name once for each time it came. */
  keys(): readonly string[] {
    return this.#pairs.map(([name]) => name);
  }
}
