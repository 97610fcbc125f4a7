import type { CwlErrorCode } from "../errors.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Script, ScriptResult } from "./sandbox.ts";

export type ToSandbox =
  | { readonly script: Script; readonly limits: SandboxLimits }
  | { readonly sources: readonly string[]; readonly limits: SandboxLimits };

/** Comes before the answer: the machine is made, and the time of the script begins. */
export interface SandboxStarted {
  readonly started: true;
}

export type FromSandbox =
  | ScriptResult
  | { readonly messages: readonly (string | undefined)[]; readonly log: "" }
  | { readonly code: CwlErrorCode; readonly message: string; readonly log: string };
