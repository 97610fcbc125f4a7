/** How long what was read is taken for what is there without asking again: below the 2 s in which changes are to be seen. */
export const MAX_AGE_MS = 1000;

/** When the layers and items that a response is made of were asked for, so that it can be said later whether it still holds. */
export class Basis {
  #askedAt: number | undefined;

  /** Notes that layers or items were used that were asked for at this time. */
  note(askedAt: number): void {
    this.#askedAt = Math.min(this.#askedAt ?? askedAt, askedAt);
  }

  /** Whether everything that was noted may be taken for what is there; false where nothing was. */
  holds(): boolean {
    return this.#askedAt !== undefined && Date.now() - this.#askedAt < MAX_AGE_MS;
  }
}
