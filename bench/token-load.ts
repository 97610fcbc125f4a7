import { readFileSync } from "node:fs";

import { median } from "./median.ts";

export const CHAINS = 24;
export const SECONDS = 4;
/** Clock ticks a second in /proc (sysconf(_SC_CLK_TCK) is 100 on every Linux that Node runs on). */
const TICKS = 100;

export interface Load {
  readonly perSecond: number;
  readonly perCore: number;
  /** Milliseconds. */
  readonly p50: number;
}

/** Lanes that ask without pause, for `SECONDS` after some to warm up: compiled code is what an operator's service runs all day. */
export async function load(pid: number, work: (lane: number) => Promise<void>, warmUpSeconds = 8): Promise<Load> {
  const run = async (seconds: number) => {
    const times: number[] = [];
    const until = performance.now() + seconds * 1000;
    const before = cpuSeconds(pid);
    const start = performance.now();
    await Promise.all(
      Array.from({ length: CHAINS }, async (_, lane) => {
        while (performance.now() < until) {
          const started = performance.now();
          await work(lane);
          times.push(performance.now() - started);
        }
      }),
    );
    const elapsed = (performance.now() - start) / 1000;
    return {
      perSecond: times.length / elapsed,
      perCore: times.length / (cpuSeconds(pid) - before),
      p50: median(times),
    };
  };
  await run(warmUpSeconds);
  return run(SECONDS);
}

/** Processor time that a process has used, all its threads together. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
