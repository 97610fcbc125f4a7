/** Longest that one request works without letting others have their turn, in milliseconds. */
const TURN = 2;

/** Resolves once everything that was waiting has had its turn. */
export function takeTurns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Measures a piece of work: `isOver` when it is time to let others go on. */
export class Turn {
  #since = performance.now();

  /** Undefined as long as the turn lasts; else a promise for the next one. */
  next(): undefined | Promise<void> {
    if (performance.now() - this.#since < TURN) {
      return undefined;
    }
    return takeTurns().then(() => {
      this.#since = performance.now();
    });
  }
}
