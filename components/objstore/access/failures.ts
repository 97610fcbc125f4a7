import { setTimeout as sleep } from "node:timers/promises";

const WINDOW = 60_000;
const FREE = 5;
const STEP = 100;
const LONGEST = 2000;
const MAX_ADDRESSES = 10_000;

interface Failed {
  count: number;
  since: number;
}

/**
 * Slows down whoever tries keys and passwords: every failure of an address after the first few makes the answers to its next failures
 * later. Nobody is locked out: what is right is answered at once, from wherever it comes.
 */
export class Failures {
  readonly #now: () => number;
  readonly #addresses = new Map<string, Failed>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Failures of this address in the last minute. */
  count(address: string): number {
    const failed = this.#addresses.get(address);
    return failed === undefined || this.#now() - failed.since >= WINDOW ? 0 : failed.count;
  }

  /** Counts a failure; resolves when it may be answered. */
  async slow(address: string): Promise<void> {
    const before = this.count(address);
    const since = before === 0 ? this.#now() : (this.#addresses.get(address)?.since ?? this.#now());
    if (this.#addresses.size >= MAX_ADDRESSES) {
      // The oldest goes: an attacker of many addresses is not one whom this stops.
      this.#addresses.delete(this.#addresses.keys().next().value ?? "");
    }
    this.#addresses.delete(address);
    this.#addresses.set(address, { count: before + 1, since });
    const delay = Math.min(LONGEST, Math.max(0, before + 1 - FREE) * STEP);
    if (delay > 0) {
      await sleep(delay, undefined, { ref: false });
    }
  }
}
