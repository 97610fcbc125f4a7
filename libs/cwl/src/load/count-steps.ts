import type { Process } from "../model/process.ts";

/** How many steps one run of a process has when nothing is scattered; each process is looked at once. */
export function countSteps(process: Process, known = new Map<Process, number>()): number {
  if (process.class !== "Workflow") {
    return 0;
  }
  let count = known.get(process);
  if (count === undefined) {
    count = 0;
    for (const step of process.steps) {
      count += 1 + countSteps(step.run, known);
    }
    known.set(process, count);
  }
  return count;
}
