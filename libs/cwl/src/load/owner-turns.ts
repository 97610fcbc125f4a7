/** Milliseconds of threads within the last minute or so, beyond which an owner does not get the last free one. */
const MOST_OF_LIGHT_OWNER_MS = 1000;
/** What an owner used counts half as much after this time. */
const HALF_LIFE_MS = 30_000;
/** Owners that are remembered before those that used nearly nothing are forgotten. */
const MAX_REMEMBERED = 1000;

interface Use {
  readonly milliseconds: number;
  readonly at: number;
}

/**
 * Decides who of those that wait has the next thread. Each owner has one at a time. The owner that used least is the next one, and the last
 * free thread is for owners that used little: neither long documents nor many of them hold up those of others.
 */
export class OwnerTurns {
  private readonly threads: number;
  private readonly clock: () => number;
  private readonly used = new Map<string, Use>();
  private readonly working = new Map<string, number>();
  private busy = 0;

  constructor(threads: number, clock: () => number = () => performance.now()) {
    this.threads = threads;
    this.clock = clock;
  }

  /** The index of the one whose turn is next; -1 where all have to wait. @param owners of those that wait, the first came first */
  choose(owners: readonly (string | undefined)[]): number {
    const free = this.threads - this.busy;
    if (free <= 0) {
      return -1;
    }
    const mayBeHeavy = free > 1 || this.threads === 1;
    let chosen = -1;
    let least = mayBeHeavy ? Infinity : MOST_OF_LIGHT_OWNER_MS;
    for (const [index, owner] of owners.entries()) {
      const use = owner === undefined ? 0 : this.use(owner);
      if (use < least && (owner === undefined || !this.working.has(owner))) {
        [chosen, least] = [index, use];
      }
    }
    return chosen;
  }

  begin(owner: string | undefined): void {
    this.busy += 1;
    if (owner !== undefined) {
      this.working.set(owner, this.clock());
    }
  }

  /** The thread has started; the owner's use is counted from now on. */
  started(owner: string | undefined): void {
    if (owner !== undefined && this.working.has(owner)) {
      this.working.set(owner, this.clock());
    }
  }

  end(owner: string | undefined): void {
    this.busy -= 1;
    const began = owner === undefined ? undefined : this.working.get(owner);
    if (owner === undefined || began === undefined) {
      return;
    }
    this.working.delete(owner);
    const now = this.clock();
    this.used.set(owner, { milliseconds: this.use(owner) + now - began, at: now });
    if (this.used.size > MAX_REMEMBERED) {
      this.forget();
    }
  }

  private use(owner: string): number {
    const { milliseconds, at } = this.used.get(owner) ?? { milliseconds: 0, at: 0 };
    return milliseconds * 2 ** ((at - this.clock()) / HALF_LIFE_MS);
  }

  private forget(): void {
    for (const owner of this.used.keys()) {
      if (this.use(owner) < MOST_OF_LIGHT_OWNER_MS / 100) {
        this.used.delete(owner);
      }
    }
  }
}
