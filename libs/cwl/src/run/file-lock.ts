import { CwlError } from "../errors.ts";

interface Waiting {
  readonly alone: boolean;
  readonly start: () => void;
}

/**
 * Who may use the files of a run at this moment: any number of jobs, or one that updates files in place. "Only one step may
 * access a writable file at a time" (InplaceUpdateRequirement), and what a container may still change is no path to be checked.
 */
export class FileLock {
  private users = 0;
  private isAlone = false;
  private readonly queue: Waiting[] = [];

  /** Waits for its turn, in the order of asking. The function it gives ends the use. */
  async enter(alone: boolean, signal: AbortSignal): Promise<() => void> {
    if (this.queue.length > 0 || !this.fits(alone)) {
      await this.wait(alone, signal);
    } else {
      this.take(alone);
    }
    let left = false;
    return () => {
      if (!left) {
        left = true;
        this.users -= 1;
        this.isAlone = false;
        this.admitNext();
      }
    };
  }

  private wait(alone: boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        alone,
        start: () => {
          signal.removeEventListener("abort", giveUp);
          this.take(alone);
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

  private fits(alone: boolean): boolean {
    return this.users === 0 || (!alone && !this.isAlone);
  }

  private take(alone: boolean): void {
    this.users += 1;
    this.isAlone = alone;
  }

  private admitNext(): void {
    for (let next = this.queue[0]; next !== undefined && this.fits(next.alone); next = this.queue[0]) {
      this.queue.shift();
      next.start();
    }
  }
}
