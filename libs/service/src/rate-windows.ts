interface RateWindowsOptions {
  readonly windowMs: number;
  /** Keys that are remembered; the one that was counted first goes. */
  readonly maxKeys: number;
  readonly clock?: () => number;
}

/** Counts by key in windows of time that begin with the first count. Each process counts by itself. */
export class RateWindows {
  readonly #options: RateWindowsOptions;
  readonly #windows = new Map<string, { count: number; readonly ends: number }>();

  constructor(options: RateWindowsOptions) {
    this.#options = options;
  }

  /** What the current window of a key has. */
  read(key: string): number {
    const { clock = Date.now } = this.#options;
    const known = this.#windows.get(key);
    return known !== undefined && known.ends > clock() ? known.count : 0;
  }

  /** Counts one where fewer than `most` were. @returns seconds until the next window where it is too many */
  count(key: string, most: number): number | undefined {
    const { windowMs, maxKeys, clock = Date.now } = this.#options;
    const now = clock();
    const known = this.#windows.get(key);
    const window = known !== undefined && known.ends > now ? known : { count: 0, ends: now + windowMs };
    if (window.count >= most) {
      return Math.max(1, Math.ceil((window.ends - now) / 1000));
    }
    window.count += 1;
    if (window !== known) {
      // A map keeps the order of insertion.
      this.#windows.delete(key);
      this.#windows.set(key, window);
      const [oldest] = this.#windows.keys();
      if (this.#windows.size > maxKeys && oldest !== undefined) {
        this.#windows.delete(oldest);
      }
    }
    return undefined;
  }
}
