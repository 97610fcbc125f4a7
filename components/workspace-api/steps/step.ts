import type { Outputs } from "../store/tables.ts";
import type { Workspace } from "../store/workspaces.ts";

/** What a step is given to work with. */
export interface StepContext {
  readonly workspace: Workspace;
  /** What the step saved before; `null` before its first attempt. */
  readonly outputs: Outputs | null;
  /** Whether the step has been done once: what is missing then was taken away by somebody. */
  readonly wasDone: boolean;
  /** Keeps what the step made; a crash after this loses nothing. */
  readonly save: (outputs: Outputs) => Promise<void>;
}

/**
 * One thing that every workspace gets. `apply` brings it to what is wanted from whatever state it is in, and may be run again
 * at any time; `remove` takes away everything that it made, and succeeds when nothing is left.
 */
export interface Step {
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** Gives what had been changed behind the platform's back and is right again. */
  readonly apply: (context: StepContext) => Promise<readonly string[]>;
  readonly remove: (context: StepContext) => Promise<void>;
}

/** The step that lets the members of a workspace to its paths: its end is waited for. */
export const PROTECTION_STEP = "protection";
