import { readFileSync } from "node:fs";

import { readMetrics } from "../../../cli/targets/embedded/read-metrics.ts";

/** Clock ticks of `/proc`, in milliseconds. */
const TICK_MS = 10;

/** What a pod did since it was looked at last. */
export interface PodReading {
  /** Longest that its event loop was held up, and the processor time that it used, in milliseconds. */
  readonly stallMs: number;
  readonly faults: number;
  readonly residentBytes: number;
}

/**
 * Reads a pod from the side: its own meter of the event loop starts anew with each reading. On a machine that has other work a loop stands
 * still without being at fault, so that a stall is at most the processor time that the process took meanwhile.
 */
export function createPodWatch(directory: string, pid: number): { readonly read: () => Promise<PodReading> } {
  let cpuBefore = readCpuMs(pid);
  return {
    read: async () => {
      const text = (await readMetrics(directory)) ?? "";
      const cpu = readCpuMs(pid);
      const used = cpu - cpuBefore;
      cpuBefore = cpu;
      return {
        stallMs: Math.min(valueOf(text, "nodejs_eventloop_lag_max_seconds") * 1000, used),
        faults: valueOf(text, "request_faults_total"),
        residentBytes: valueOf(text, "process_resident_memory_bytes"),
      };
    },
  };
}

function valueOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}

function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  // utime and stime; the fields before are the process id and the name.
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
