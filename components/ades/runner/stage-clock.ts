/** What a runner does for its job, in this order. */
export type JobStage = "preparing" | "fetching inputs" | "running" | "storing results" | "ending";

/** Minutes without any progress after which an attempt is given up, beside what a stage waits for on purpose. */
const PATIENCE_MINUTES: Readonly<Record<JobStage, number>> = {
  preparing: 15,
  "fetching inputs": 15,
  running: 15,
  "storing results": 20,
  ending: 15,
};

/** Where a job is and since when nothing moved there. */
export interface StageClock {
  readonly enter: (stage: JobStage) => void;
  /** Something moved: bytes, a step, a line of a log. */
  readonly moved: () => void;
  readonly read: () => { readonly stage: JobStage; readonly stillMs: number };
}

export function createStageClock(): StageClock {
  let stage: JobStage = "preparing";
  let since = performance.now();
  return {
    enter: (next) => {
      stage = next;
      since = performance.now();
    },
    moved: () => {
      since = performance.now();
    },
    read: () => ({ stage, stillMs: performance.now() - since }),
  };
}

/**
 * Milliseconds that a stage may stand still.
 * @param toolSeconds a tool may be silent for as long as it may run
 */
export const stageDeadline = (stage: JobStage, toolSeconds: number): number =>
  PATIENCE_MINUTES[stage] * 60_000 + (stage === "running" ? toolSeconds * 1000 : 0);
