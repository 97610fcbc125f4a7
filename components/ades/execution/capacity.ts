import { availableParallelism, totalmem } from "node:os";

import type { Room } from "../store/queue.ts";
import type { AdesSettings } from "./storage.ts";

/** What jobs may have together, and what one of them may have. */
export interface Capacity {
  readonly total: Room;
  readonly ofOneJob: Room;
  readonly parallelJobs: number;
}

/** The capacity that was set, and never more than this machine has. */
export function readCapacity(settings: AdesSettings): Capacity {
  const machine = { cores: availableParallelism(), ramMiB: Math.floor(totalmem() / 2 ** 20) };
  const cores = Number(settings.CAPACITY_CORES);
  const total = {
    cores: Number.isFinite(cores) && cores > 0 ? Math.min(cores, machine.cores) : machine.cores,
    ramMiB: Math.min(settings.CAPACITY_RAM_MIB ?? machine.ramMiB, machine.ramMiB),
  };
  return {
    total,
    ofOneJob: {
      cores: Math.min(settings.MAX_CORES, total.cores),
      ramMiB: Math.min(settings.MAX_RAM_MIB, total.ramMiB),
    },
    parallelJobs: settings.PARALLEL_JOBS ?? Math.min(8, Math.max(2, machine.cores)),
  };
}
