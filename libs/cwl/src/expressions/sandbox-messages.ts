import type { CwlErrorCode } from "../errors.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Script, ScriptResult } from "./sandbox.ts";

export type ToSandbox =
  | { readonly script: Script; readonly limits: SandboxLimits }
  | { readonly sources: readonly string[]; readonly limits: SandboxLimits };

export type FromSandbox =
  | ScriptResult
  | { readonly messages: readonly (string | undefined)[]; readonly log: "" }
  | { readonly code: CwlErrorCode; readonly message: string; readonly log: string };
