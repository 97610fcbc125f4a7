import type { ValueObject } from "./model/values.ts";
/** One thing that is wrong with a document, an input object or a run, and where. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What would be right, when we know. */
  readonly hint?: string;
  /** URI or path of the file. */
  readonly file?: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly column?: number;
  /** Path inside the document, e.g. `steps.crop.in.image`. */
  readonly path?: string;
}

/**
 * Why something did not work:
 *
 * - `invalid-document` the CWL document is wrong
 * - `invalid-inputs` the input object does not fit the process
 * - `expression` an expression or parameter reference failed
 * - `unsupported` a required feature is not available here (exit status 33 on the command line)
 * - `limit` a configured limit was exceeded (size, depth, time, memory)
 * - `reference` a document or file could not be fetched
 * - `unsafe` something tried to leave its working directory
 * - `process-failed` a tool ended with a failure code, ran out of time or made wrong outputs
 * - `infrastructure` the machinery below failed (no memory for a process, image pull, engine); may be tried again
 * - `busy` too many wait already; may be tried again
 * - `cancelled` the caller's signal fired
 */
export type CwlErrorCode =
  | "invalid-document"
  | "invalid-inputs"
  | "expression"
  | "unsupported"
  | "limit"
  | "reference"
  | "unsafe"
  | "process-failed"
  | "infrastructure"
  | "busy"
  | "cancelled";

/** Every failure this library reports on purpose. Anything else that is thrown is a bug. */
export class CwlError extends Error {
  override readonly name = "CwlError";
  readonly code: CwlErrorCode;
  readonly problems: readonly Problem[];
  /** The step or tool that failed, as a path of step names, when the failure happened while running. */
  step: string | undefined;
  /** Exit code of the tool, when one ran to its end. */
  exitCode: number | undefined;
  /** The last lines that the tool wrote to its standard error, when it ran. */
  logTail: string | undefined;
  /** Outputs of a workflow that were there when it failed, the others null, when the caller asked for them. */
  outputs: ValueObject | undefined;
  /** Whether a tool was ended to make room for more important work (`infrastructure`): it is tried again as often as that happens. */
  readonly isPreempted: boolean;

  constructor(
    code: CwlErrorCode,
    message: string | readonly Problem[],
    more: { cause?: unknown; exitCode?: number; logTail?: string; isPreempted?: boolean } = {},
  ) {
    const problems: readonly Problem[] =
      typeof message === "string" ? [{ severity: "error", message }] : message.filter((p) => p.severity === "error");
    super([...new Set(problems.map(formatProblem))].join("\n"), more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.problems = problems;
    this.step = undefined;
    this.exitCode = more.exitCode;
    this.logTail = more.logTail;
    this.outputs = undefined;
    this.isPreempted = more.isPreempted ?? false;
  }
}

/** `file:line:column: path: message (hint)` — the form editors and people can follow. */
export function formatProblem(problem: Problem): string {
  const file = problem.file?.startsWith("file://") === true ? decodeURIComponent(problem.file.slice(7)) : problem.file;
  const location = [file, problem.line, problem.column].filter((part) => part !== undefined).join(":");
  return [
    location === "" ? "" : `${location}: `,
    problem.path === undefined || problem.path === "" ? "" : `${problem.path}: `,
    problem.message,
    problem.hint === undefined ? "" : ` (${problem.hint})`,
  ].join("");
}

/** The message of anything thrown, without a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
