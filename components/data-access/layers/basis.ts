/** How long what was read is taken for what is there without asking again: below the 2 s in which changes are to be seen. */
export const MAX_AGE_MS = 1000;

/** What was asked for, and when. */
export interface Reading {
  readonly askedAt: number;
  /** Whether it is certain that nothing of it has changed since. Left out where nobody tells. */
  readonly isUnchanged?: () => boolean;
}

/** Whether something that was read may be taken for what is there. */
export const holds = ({ askedAt, isUnchanged }: Reading): boolean =>
  Date.now() - askedAt < MAX_AGE_MS || isUnchanged?.() === true;

/** The layers and items that a response is made of, so that it can be said later whether it still holds. */
export class Basis {
  readonly #readings = new Set<Reading>();

  /** Notes that something that was read is used. */
  note(reading: Reading): void {
    this.#readings.add(reading);
  }

  /** Whether everything that was noted may be taken for what is there; false where nothing was. */
  holds(): boolean {
    if (this.#readings.size === 0) {
      return false;
    }
    for (const reading of this.#readings) {
      if (!holds(reading)) {
        return false;
      }
    }
    return true;
  }
}
