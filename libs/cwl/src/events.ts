import type { CwlErrorCode, Problem } from "./errors.ts";
import type { ResourceUsage } from "./executors/executor.ts";
import type { Value, ValueObject } from "./model/values.ts";

/** What happens in a run, in order. `sequence` counts from 1 without gaps; `time` is ISO 8601. */
export type RunEvent = { readonly sequence: number; readonly time: string } & RunEventBody;

/** A step is named by its path from the top, as in `crop/warp[3]`; the empty path is the top process itself. */
export type RunEventBody =
  | {
      readonly type: "run-started";
      readonly process: string;
      readonly label: string | undefined;
      readonly warnings: readonly Problem[];
      /** It goes on from the journal of an earlier attempt. */
      readonly resumed: boolean;
    }
  | { readonly type: "step-queued"; readonly step: string }
  /** A scattered step is about to run so many jobs. */
  | { readonly type: "step-scattered"; readonly step: string; readonly jobs: number }
  | {
      readonly type: "step-started";
      readonly step: string;
      readonly command: readonly string[];
      readonly image: string | undefined;
      readonly attempt: number;
    }
  | { readonly type: "step-log"; readonly step: string; readonly text: string }
  | {
      readonly type: "step-finished";
      readonly step: string;
      readonly exitCode: number | undefined;
      readonly usage: ResourceUsage | undefined;
      readonly outputs: ValueObject;
      /** Taken from the cache of earlier results or, in a run that is continued, from its journal. */
      readonly reused: boolean;
    }
  | {
      readonly type: "step-failed";
      readonly step: string;
      readonly message: string;
      readonly exitCode: number | undefined;
      readonly logTail: string | undefined;
      /** `cancelled` for a job that was stopped because another failed or the caller asked for it. */
      readonly code?: CwlErrorCode | undefined;
      /** Another attempt follows. */
      readonly retrying: boolean;
    }
  | { readonly type: "step-skipped"; readonly step: string }
  /** `percent` never goes down; steps of the top workflow weigh the same, scattered jobs share their step's weight. */
  | { readonly type: "progress"; readonly percent: number; readonly jobsDone: number; readonly jobsKnown: number }
  | { readonly type: "run-finished"; readonly outputs: { readonly [name: string]: Value } }
  | { readonly type: "run-failed"; readonly code: string; readonly message: string; readonly step: string | undefined };

export type RunEventType = RunEventBody["type"];
