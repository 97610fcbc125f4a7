import type { RunEvent } from "../events.ts";
import type { SandboxLimits } from "../expressions/limits.ts";
import type { Fetcher } from "../load/fetcher.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { Capacity } from "./admission.ts";
import type { Executors } from "./context.ts";
import type { JobInputs } from "./job-inputs.ts";

export interface RunOptions {
  readonly document: LoadedDocument;
  /** Plain input object (relative locations mean: below the current directory), or what `loadInputs` gave. */
  readonly inputs: JobInputs | { readonly [name: string]: unknown };
  /** What runs tools; default: processes of this machine, no containers. */
  readonly executors?: Executors | undefined;
  /**
   * Whether tools whose container is only a hint may run on the host where there is no container executor. With "all" those
   * that require one run there as well: somebody has to have asked for it.
   */
  readonly hostFallback?: boolean | "all" | undefined;
  /** Directory for scratch space; a fresh one is made inside and removed at the end. Default: the system's. */
  readonly workDir?: string | undefined;
  /**
   * Directory of this run's own in which every finished step is written down, with its files (`workDir` is not used
   * then). A run that died, was cancelled or failed goes on from there when it is started again with the same
   * directory, document and inputs; what an earlier attempt left running is ended first. A run that was complete gives
   * its outputs again. `outDir` must be this run's alone too. Remove it with `removeJournal` when it is no longer wanted.
   */
  readonly journal?: string | undefined;
  /** Where outputs are put. */
  readonly outDir: string;
  /**
   * Whether an output takes the place of a file of its name in `outDir` (never of an input of this run). Default: it gets a
   * number, as the second of two outputs with one name does.
   */
  readonly replaceOutputs?: boolean | undefined;
  /** Whether the first failure ends all that runs (default), or steps that do not need what failed still run. */
  readonly onError?: "stop" | "continue" | undefined;
  /** Whether outputs of a workflow that are there when it fails are put into `outDir`, and named in `CwlError.outputs`. */
  readonly keepPartialOutputs?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Reaches `http:`, `s3:` and other remote inputs and ontologies; the caller decides what may be reached. */
  readonly fetcher?: Fetcher | undefined;
  /** Directories outside of which no local file may be named, by whomever. Undefined: anywhere. A service must set it. */
  readonly inputRoots?: readonly string[] | undefined;
  /**
   * Directories in which expressions and tools may name files too. Without it they may name inputs, outputs of earlier
   * steps, and what lies below those.
   */
  readonly allowedPaths?: readonly string[] | undefined;
  readonly limits?: RunLimits | undefined;
  /** Capacity that several runs share, from `createCapacity`; the amounts in `limits` are not used then. */
  readonly capacity?: Capacity | undefined;
  /** Texts to be masked wherever the run speaks: events, log lines, errors. Those of `cwltool:Secrets` always are. */
  readonly secrets?: readonly string[] | undefined;
  /** Directory of the work-reuse cache; off without one. */
  readonly cacheDir?: string | undefined;
  /** Whether scratch space is left when the run ends. */
  readonly keepWorkDir?: boolean | undefined;
  /**
   * Whether the working files of a run with a journal stay when it has succeeded: its caller removes the journal's directory,
   * and may do so when nobody waits for it.
   */
  readonly keepJournalWork?: boolean | undefined;
  /** Variables that tools on the host get beside those of their document. */
  readonly environment?: { readonly [name: string]: string } | undefined;
  /** PATH of tools on the host. */
  readonly path?: string | undefined;
}

export interface RunLimits {
  /** What all running tools may ask for together. A tool that asks for more is refused; undefined: this machine, and such a tool runs alone. */
  readonly cores?: number | undefined;
  readonly ramMiB?: number | undefined;
  readonly expression?: Partial<SandboxLimits> | undefined;
  /** How often a job is tried again after the machinery failed. */
  readonly infrastructureRetries?: number | undefined;
  /** Most seconds that one tool may run, whatever it asks for. */
  readonly toolSeconds?: number | undefined;
  /** Most MiB that one tool may use; for a tool that says what it needs, that is its limit if it is less. */
  readonly toolRamMiB?: number | undefined;
}
