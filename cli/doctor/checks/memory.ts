import { readFileSync } from "node:fs";
import { freemem } from "node:os";

import { toBytes } from "@swath/manifest";

import { formatBytes } from "../../view/bytes.ts";
import type { Check } from "../finding.ts";

export const MEMORY = "memory";

/** Whether the pods' memory requests, and a job beside them, fit into what is available. */
export const checkMemory: Check = ({ plan }) => {
  const available = readAvailable();
  const needed = plan.workloads
    .map(({ resources, replicas = 1 }) => toBytes(resources.requests.memory) * replicas)
    .reduce((sum, bytes) => sum + bytes, 0);
  const job = plan.settings.variables.REQUIRE_ADES ? toBytes(plan.settings.variables.PROCESSING_MAX_RAM) : 0;
  const found = `${formatBytes(available)} available; the pods of this deployment ask for ${formatBytes(needed)}`;
  if (available < needed) {
    return [
      {
        verdict: "bad",
        subject: MEMORY,
        found,
        meaning: "Pods will be killed while they start or later, by the system's memory killer.",
        advice:
          "Close other programs, use a larger machine, or deploy less: deploy/processing/processing, deploy/userman/userman",
      },
    ];
  }
  if (available < needed + job) {
    return [
      {
        verdict: "limited",
        subject: MEMORY,
        found: `${found}, a job up to ${formatBytes(job)}`,
        meaning: "The platform runs; jobs that use all that they may will not fit beside it.",
        advice: "Set PROCESSING_MAX_RAM to less, or free memory.",
      },
    ];
  }
  return [{ verdict: "good", subject: MEMORY, found }];
};

/** What programs can have without swapping (proc(5), MemAvailable). */
function readAvailable(): number {
  try {
    const [, kibibytes] = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
    return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024;
  } catch {
    return freemem();
  }
}
