import type { CwlErrorCode } from "../errors.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Script, ScriptResult } from "./sandbox.ts";

export interface ToSandbox {
  readonly script: Script;
  readonly limits: SandboxLimits;
}

export type FromSandbox =
  | ScriptResult
  | { readonly code: CwlErrorCode; readonly message: string; readonly log: string };
