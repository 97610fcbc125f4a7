/** How a `FairPace` lets attempts through. */
export interface PaceOptions {
  readonly intervalMs: number;
  /** Attempts of one lane, and lanes, that may wait for one key. */
  readonly maxPerLane: number;
  readonly maxLanes: number;
}

interface Queue {
  /** Resolvers of what waits, by lane; the map's order is the order of turns. */
  readonly lanes: Map<string, (() => void)[]>;
  timer: NodeJS.Timeout;
}

/**
 * Lets one attempt of each key through at an interval, its lanes in turn: a lane that sends many delays itself, and every other one by
 * a turn at most. For logins the key is an address and the lanes are accounts, or the other way round.
 */
export class FairPace {
  readonly #options: PaceOptions;
  readonly #queues = new Map<string, Queue>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Resolves when the attempt's turn has come. @returns false at once where too many wait */
  async take(key: string, lane: string): Promise<boolean> {
    const { maxPerLane, maxLanes } = this.#options;
    const queue = this.#queues.get(key) ?? this.#open(key);
    const waiting = queue.lanes.get(lane);
    if (waiting === undefined ? queue.lanes.size >= maxLanes : waiting.length >= maxPerLane) {
      return false;
    }
    await new Promise<void>((resolve) => {
      if (waiting === undefined) {
        queue.lanes.set(lane, [resolve]);
      } else {
        waiting.push(resolve);
      }
    });
    return true;
  }

  #open(key: string): Queue {
    const lanes: Queue["lanes"] = new Map();
    // Kept for one interval after the last attempt, so that the next one waits as well.
    const timer = setInterval(() => {
      const [next] = lanes;
      if (next === undefined) {
        clearInterval(timer);
        this.#queues.delete(key);
        return;
      }
      const [lane, waiting] = next;
      lanes.delete(lane);
      const resolve = waiting.shift();
      if (waiting.length > 0) {
        lanes.set(lane, waiting);
      }
      resolve?.();
    }, this.#options.intervalMs);
    timer.unref();
    const queue = { lanes, timer };
    this.#queues.set(key, queue);
    return queue;
  }
}
