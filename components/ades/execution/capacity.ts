import { availableParallelism, totalmem } from "node:os";

import type { FreeCapacity } from "../store/queue.ts";
import type { AdesSettings } from "./storage.ts";

/** What jobs may have together, and what one of them may have. */
export interface Capacity {
  readonly total: FreeCapacity;
  readonly perJob: FreeCapacity;
  readonly parallelJobs: number;
}

/** Where tools are pods, the cluster's scheduler and quotas know what there is; a job has its own limits there and no more. */
const CLUSTER = { cores: 10_000, ramMiB: 2 ** 30, parallelJobs: 8 };

/** The capacity that was set, and never more than this machine has. */
export function readCapacity(settings: AdesSettings): Capacity {
  const isCluster = settings.EXECUTOR === "pods";
  const machine = isCluster ? CLUSTER : { cores: availableParallelism(), ramMiB: Math.floor(totalmem() / 2 ** 20) };
  const cores = Number(settings.CAPACITY_CORES);
  const total = {
    cores: Number.isFinite(cores) && cores > 0 ? Math.min(cores, machine.cores) : machine.cores,
    ramMiB: Math.min(settings.CAPACITY_RAM_MIB ?? machine.ramMiB, machine.ramMiB),
  };
  return {
    total,
    perJob: {
      cores: Math.min(settings.MAX_CORES, total.cores),
      ramMiB: Math.min(settings.MAX_RAM_MIB, total.ramMiB),
    },
    parallelJobs: settings.PARALLEL_JOBS ?? Math.min(CLUSTER.parallelJobs, Math.max(2, machine.cores)),
  };
}
