import type { CommandStart } from "./start-command.ts";

/** What the engine asks of its helper. */
export interface ToHelper {
  readonly id: number;
  readonly start: CommandStart;
}

/** What the helper answers, `id` being the command's. Output does not come after `exited`. `failed` is all that is said of one that could not be started. */
export type FromHelper =
  | { readonly type: "ready" }
  | { readonly type: "started"; readonly id: number; readonly pid: number }
  | { readonly type: "output"; readonly id: number; readonly text: string }
  | {
      readonly type: "exited";
      readonly id: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  | {
      readonly type: "failed";
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly path: string | undefined;
    };
