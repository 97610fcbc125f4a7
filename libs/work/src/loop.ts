import { openListener } from "@swath/postgres/pool";

import { createBackOff } from "./back-off.ts";

export interface ClaimRequest<Item> {
  /** Places that are free. */
  readonly limit: number;
  /** Items that are at work. */
  readonly running: readonly Item[];
  /** Time or a new connection wakes the loop: leases may have run out. False after a notification or the end of an item. */
  readonly isTimed: boolean;
}

/** Work without a lease that the loop could renew. */
interface Leased {
  readonly lease?: { readonly renew: () => Promise<boolean> };
}

export interface LoopOptions<Item extends object> {
  /** Items at once. */
  readonly concurrency: number;
  /** Takes items that are due, as many as it may: fewer than `limit` say that no more are due. */
  readonly claim: (request: ClaimRequest<Item>) => Promise<readonly Item[]>;
  /** Milliseconds until an item is due; undefined where none waits. Without it items are looked for every `maxSleepMs`. */
  readonly untilDue?: () => Promise<number | undefined>;
  /**
   * Carries an item out and notes what came of it. Its signal aborts when the lease is lost; with `abortOnStop` also when the loop stops.
   * What it rejects with goes to `onError`, and the item comes again when its lease runs out.
   */
  readonly run: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Database to listen to, and the channel of NOTIFY that tells of items. */
  readonly listen?: { readonly url: string; readonly channel: string };
  /** Milliseconds between renewals of the leases of items at work, those that have one. */
  readonly renewMs?: number;
  /** Longest pause, in milliseconds, for what became due without a notification; 10 s when left out. */
  readonly maxSleepMs?: number;
  readonly abortOnStop?: boolean;
  /** What failed: the loop itself, or the item. */
  readonly onError: (error: Error, item?: Item) => void;
}

export interface Loop {
  /** There may be something to do. */
  readonly wake: () => void;
  /** Rejects with the reason while items cannot be looked for. */
  readonly ready: () => Promise<void>;
  /** Takes nothing new, and waits for what is at work. */
  readonly stop: () => Promise<void>;
  readonly counts: () => LoopCounts;
}

export interface LoopCounts {
  readonly running: number;
  readonly claimed: number;
  readonly failed: number;
  readonly lost: number;
}

const MAX_SLEEP_MS = 10_000;
/** What is due and cannot be taken, because another worker is about to take it or something else holds it, is looked for ever more rarely. */
const MIN_SLEEP_MS = 20;
const afterFailure = createBackOff({ firstSeconds: 0.5, maxSeconds: 5 });

/**
 * Works on what is due, woken by notifications, by the end of an item and by time. While all places are taken it asks the database nothing;
 * while nothing is due it asks twice every `maxSleepMs`.
 */
export async function startLoop<Item extends object>(options: LoopOptions<Item>): Promise<Loop> {
  const { concurrency, untilDue, listen, renewMs, maxSleepMs = MAX_SLEEP_MS, onError } = options;
  const running = new Map<Item, Promise<void>>();
  const stopping = new AbortController();
  const counts = { claimed: 0, failed: 0, lost: 0 };
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | undefined;
  let isWanted = false;
  let isTimed = false;
  let failures = 0;
  let idleLooks = 0;
  let lastError: Error | undefined;

  const carryOut = async (item: Item): Promise<void> => {
    const lost = new AbortController();
    const renewing = keepLease(item, renewMs, () => {
      counts.lost += 1;
      lost.abort(new Error("the lease was lost"));
    });
    try {
      await options.run(
        item,
        options.abortOnStop === true ? AbortSignal.any([lost.signal, stopping.signal]) : lost.signal,
      );
    } catch (error) {
      counts.failed += 1;
      onError(error as Error, item);
    } finally {
      clearInterval(renewing);
    }
  };
  const start = (item: Item): void => {
    counts.claimed += 1;
    const work = carryOut(item).finally(() => {
      running.delete(item);
      wake();
    });
    running.set(item, work);
  };
  /** @returns milliseconds until the next look; undefined while all places are taken, since the end of an item wakes the loop */
  const fill = async (): Promise<number | undefined> => {
    let taken = 0;
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false;
      const limit = concurrency - running.size;
      if (limit <= 0) {
        return undefined;
      }
      const request = { limit, running: [...running.keys()], isTimed };
      isTimed = false;
      const items = await options.claim(request);
      items.forEach(start);
      taken += items.length;
    }
    if (stopping.signal.aborted || running.size >= concurrency) {
      return undefined;
    }
    const untilNext = Math.min(maxSleepMs, (await untilDue?.()) ?? maxSleepMs);
    idleLooks = taken > 0 || untilNext > 0 ? 0 : idleLooks + 1;
    return Math.min(maxSleepMs, Math.max(untilNext, MIN_SLEEP_MS * 2 ** Math.min(idleLooks, 10)));
  };
  const pump = (): void => {
    if (stopping.signal.aborted || pumping !== undefined) {
      return;
    }
    clearTimeout(timer);
    pumping = fill()
      .then(
        (pause) => {
          failures = 0;
          lastError = undefined;
          return pause;
        },
        (error: unknown) => {
          failures += 1;
          lastError = error as Error;
          isWanted = false;
          onError(lastError);
          return afterFailure(failures) * 1000;
        },
      )
      .then((pause) => {
        pumping = undefined;
        if (stopping.signal.aborted) {
          return;
        }
        if (isWanted && running.size < concurrency) {
          pump();
        } else if (pause !== undefined) {
          timer = setTimeout(wakeByTime, pause);
        }
      });
  };
  const wake = (): void => {
    isWanted = true;
    pump();
  };
  const wakeByTime = (): void => {
    isTimed = true;
    wake();
  };

  const listener =
    listen === undefined
      ? undefined
      : await openListener({ ...listen, onMessage: wake, onConnect: wakeByTime, onError: (error) => onError(error) });
  wakeByTime();
  return {
    wake,
    ready: async () => {
      if (lastError !== undefined) {
        throw new Error("the database does not answer", { cause: lastError });
      }
    },
    stop: async () => {
      stopping.abort(new Error("the loop stops"));
      clearTimeout(timer);
      await listener?.close();
      await pumping;
      await Promise.all(running.values());
    },
    counts: () => ({ ...counts, running: running.size }),
  };
}

/** Renews the lease of an item at work. A renewal that fails is tried again; the next one may find the lease lost. */
function keepLease(item: Leased, renewMs: number | undefined, onLost: () => void): NodeJS.Timeout | undefined {
  const { lease } = item;
  if (renewMs === undefined || lease === undefined) {
    return undefined;
  }
  const timer = setInterval(() => {
    lease.renew().then(
      (isOurs) => {
        if (!isOurs) {
          clearInterval(timer);
          onLost();
        }
      },
      () => {},
    );
  }, renewMs);
  return timer;
}
