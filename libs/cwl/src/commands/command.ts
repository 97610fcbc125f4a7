import type { Fetcher } from "../load/fetcher.ts";
import type { ProgressOutput } from "./progress-view.ts";

/** What a command may use of the process around it. */
export interface CommandIo {
  /** A line of the result. */
  readonly print: (text: string) => void;
  /** A line for people. */
  readonly error: (text: string) => void;
  /** Where the progress of a run is shown. */
  readonly progress: ProgressOutput;
  readonly env: { readonly [name: string]: string | undefined };
  readonly signal: AbortSignal;
  readonly fetcher: Fetcher | undefined;
}

export interface CwlCommand {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  /** What `--help` prints where that is more than the usage. */
  readonly help?: () => string;
  /** Gives the exit status. Throws a CwlError for what `exitStatus` turns into one. */
  readonly run: (args: readonly string[], io: CommandIo) => Promise<number>;
}
