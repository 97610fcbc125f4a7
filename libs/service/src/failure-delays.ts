import { setTimeout as sleep } from "node:timers/promises";

import { RateWindows } from "./rate-windows.ts";

const WINDOW_MS = 60_000;
/** Failures that are answered at once: people mistype. */
const FREE = 5;
const STEP_MS = 100;
const LONGEST_MS = 2000;
const MAX_ADDRESSES = 10_000;

/**
 * Slows down callers that try keys and passwords: each failure of an address after the first few delays the response to its next failures.
 * Nobody is locked out: a right key is answered at once, from any address.
 */
export class FailureDelays {
  readonly #windows: RateWindows;

  constructor(clock?: () => number) {
    this.#windows = new RateWindows({ windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES, ...(clock && { clock }) });
  }

  /** Failures of this address in the last minute. */
  count(address: string): number {
    return this.#windows.read(address);
  }

  /** Counts a failure; resolves when it may be answered. */
  async slow(address: string): Promise<void> {
    this.#windows.count(address, Infinity);
    const delay = Math.min(LONGEST_MS, Math.max(0, this.count(address) - FREE) * STEP_MS);
    if (delay > 0) {
      await sleep(delay, undefined, { ref: false });
    }
  }
}
