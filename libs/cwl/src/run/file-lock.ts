import { FairQueue } from "./fair-queue.ts";

/**
 * Who may use the files of a run at this moment: any number of jobs, or one that updates files in place. "Only one step may
 * access a writable file at a time" (InplaceUpdateRequirement), and what a container may still change is no path to be checked.
 */
export class FileLock {
  private users = 0;
  private isAlone = false;
  private readonly queue = new FairQueue<boolean>({
    fits: (alone) => this.users === 0 || (!alone && !this.isAlone),
    take: (alone) => {
      this.users += 1;
      this.isAlone = alone;
    },
    release: () => {
      this.users -= 1;
      this.isAlone = false;
    },
  });

  /** Waits for its turn, in the order of asking. The function it gives ends the use. */
  async enter(alone: boolean, signal: AbortSignal): Promise<() => void> {
    return await this.queue.acquire(alone, signal);
  }
}
