import { CwlError } from "../errors.ts";

interface Entry<T> {
  readonly request: T;
  readonly start: () => void;
}

/** What a queue shares out. */
export interface Shared<T> {
  /** Whether a request can be granted now. */
  readonly fits: (request: T) => boolean;
  readonly take: (request: T) => void;
  readonly release: (request: T) => void;
}

/** Grants requests in the order in which they come: one that does not fit yet holds up those behind it. */
export class FairQueue<T> {
  private readonly shared: Shared<T>;
  private readonly queue: Entry<T>[] = [];

  constructor(shared: Shared<T>) {
    this.shared = shared;
  }

  /** Waits until the request is granted. The function it gives releases what was taken, once. Throws when the signal fires while it waits. */
  async acquire(request: T, signal: AbortSignal): Promise<() => void> {
    if (this.queue.length > 0 || !this.shared.fits(request)) {
      await this.wait(request, signal);
    } else {
      this.shared.take(request);
    }
    let released = false;
    return () => {
      if (!released) {
        released = true;
        this.shared.release(request);
        this.admitNext();
      }
    };
  }

  private wait(request: T, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const entry: Entry<T> = {
        request,
        start: () => {
          signal.removeEventListener("abort", giveUp);
          this.shared.take(request);
          resolve();
        },
      };
      const giveUp = (): void => {
        this.queue.splice(this.queue.indexOf(entry), 1);
        reject(new CwlError("cancelled", "the run was cancelled"));
        this.admitNext();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.queue.push(entry);
    });
  }

  private admitNext(): void {
    for (let next = this.queue[0]; next !== undefined && this.shared.fits(next.request); next = this.queue[0]) {
      this.queue.shift();
      next.start();
    }
  }
}
