import { availableParallelism, totalmem } from "node:os";
import { CwlError } from "../errors.ts";
import { FairQueue } from "./fair-queue.ts";

/** Processors and memory that jobs are let into. */
export interface Capacity {
  readonly cores: number;
  readonly ramMiB: number;
  /** Waits for room. The function it gives frees the room again. */
  readonly enter: (cores: number, ramMiB: number, signal: AbortSignal) => Promise<() => void>;
}

/** This machine; a job that is larger than it runs alone. */
export function machineCapacity(): Capacity {
  return new Admission({ ...machine(), strict: false });
}

/**
 * A capacity for one run or for several that share it; what is not given is this machine's. A job that would never fit
 * is refused. Jobs are let in in the order in which they ask, whatever run they belong to.
 */
export function createCapacity(amounts: {
  readonly cores?: number | undefined;
  readonly ramMiB?: number | undefined;
}): Capacity {
  const { cores, ramMiB } = machine();
  return new Admission({ cores: amounts.cores ?? cores, ramMiB: amounts.ramMiB ?? ramMiB, strict: true });
}

function machine(): { cores: number; ramMiB: number } {
  return { cores: availableParallelism(), ramMiB: Math.floor(totalmem() / 1048576) };
}

interface Amount {
  readonly cores: number;
  readonly ramMiB: number;
}

/** Lets jobs in while there are processors and memory for them, in the order in which they asked. */
class Admission implements Capacity {
  readonly cores: number;
  readonly ramMiB: number;
  private readonly strict: boolean;
  private usedCores = 0;
  private usedRam = 0;
  private running = 0;
  private readonly queue = new FairQueue<Amount>({
    // Sums of fractions of cores are not exact.
    fits: ({ cores, ramMiB }) =>
      this.running === 0 || (this.usedCores + cores <= this.cores + 1e-9 && this.usedRam + ramMiB <= this.ramMiB),
    take: ({ cores, ramMiB }) => {
      this.usedCores += cores;
      this.usedRam += ramMiB;
      this.running += 1;
    },
    release: ({ cores, ramMiB }) => {
      this.usedCores -= cores;
      this.usedRam -= ramMiB;
      this.running -= 1;
    },
  });

  /** `strict` refuses a job that would never fit; otherwise such a job runs alone. */
  constructor(capacity: { readonly cores: number; readonly ramMiB: number; readonly strict: boolean }) {
    this.cores = capacity.cores;
    this.ramMiB = capacity.ramMiB;
    this.strict = capacity.strict;
  }

  async enter(cores: number, ramMiB: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.strict && (cores > this.cores || ramMiB > this.ramMiB)) {
      throw new CwlError(
        "unsupported",
        `the tool asks for ${cores} cores and ${ramMiB} MiB; here are ${this.cores} cores and ${this.ramMiB} MiB at most`,
      );
    }
    return await this.queue.acquire(
      { cores: Math.min(cores, this.cores), ramMiB: Math.min(ramMiB, this.ramMiB) },
      signal,
    );
  }
}
