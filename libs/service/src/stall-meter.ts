/** How often the loop is looked at: a stall is seen to this accuracy. */
const TICK_MS = 5;
/** A meter that is not read any more ends: a timer that runs all the time costs idle services processor time. */
const IDLE_MS = 60_000;

/**
 * Measures stalls of the event loop by the processor time that its thread takes between two ticks. On a busy machine a loop also stands
 * still because it waits for a processor; that is not the fault of what it serves, and is not counted.
 */
export class StallMeter {
  #timer: NodeJS.Timeout | undefined;
  #longestMs = 0;
  #beforeMs = 0;
  #readAt = 0;

  /** The longest stall since the last reading, in milliseconds; 0 at the first, which starts the meter. */
  read(): number {
    this.#readAt = performance.now();
    if (this.#timer === undefined) {
      this.#beforeMs = usedMs();
      this.#timer = setInterval(() => this.#look(), TICK_MS);
      this.#timer.unref();
    } else {
      this.#look();
    }
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = usedMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#beforeMs);
    this.#beforeMs = now;
    if (performance.now() - this.#readAt > IDLE_MS) {
      this.stop();
    }
  }
}

/** Processor time of this thread alone: garbage collection in helpers and other workers stall nobody. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
