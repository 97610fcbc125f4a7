import type { ClaimedJob } from "../store/queue.ts";
import type { JobStage } from "./stage-clock.ts";

/** What the service tells a runner. */
export type ToRunner =
  | { readonly type: "run"; readonly job: ClaimedJob; readonly limits: JobLimits }
  /** Ends the job at work, and the runner with it; `resumes` when the job is to be taken up again by another. */
  | { readonly type: "stop"; readonly resumes: boolean };

/** What a runner tells the service: it can take a job, or has ended the one it had; `isWorn` when it wants to be replaced. */
export type FromRunner =
  | { readonly type: "ready" }
  /** Sent again and again: it is alive, and so far has come with its job. */
  | { readonly type: "alive"; readonly at?: { readonly stage: JobStage; readonly stillMs: number } | undefined }
  | { readonly type: "ended"; readonly job: string; readonly isWorn: boolean };

/** What a job may use of the machine. */
export interface JobLimits {
  /** What its tools may ask for side by side. */
  readonly cores: number;
  readonly ramMiB: number;
  /** The most that one tool may use, whatever it asks for. */
  readonly toolRamMiB: number;
}
