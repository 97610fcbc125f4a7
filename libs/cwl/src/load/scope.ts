import type { Problem } from "../errors.ts";
import type { CwlVersion, SourceLocation, Process } from "../model/process.ts";
import type { CwlType } from "../model/types.ts";
import type { Budget } from "./budget.ts";
import { locationOf, problemAt } from "./origin.ts";
import type { DocumentStore, RawDocument } from "./store.ts";

/** What the builders need to know about where they are. */
export interface Scope {
  readonly store: DocumentStore;
  /** Every problem found so far, over all files. */
  readonly problems: Problem[];
  readonly version: CwlVersion;
  readonly document: RawDocument;
  /** Schema-defined types by full URI and by short name. */
  readonly types: ReadonlyMap<string, CwlType>;
  /** Ids of the processes around this one, outermost first: a process among its own ancestors would never end. */
  readonly ancestors: readonly string[];
  readonly built: BuiltProcesses;
  readonly budget: Budget;
  /** Builds any process; here so that steps need not import what imports them. */
  readonly buildProcess: BuildProcess;
}

export type BuildProcess = (
  scope: Scope,
  raw: { readonly [key: string]: unknown },
  id: string,
  path: string,
) => Promise<Process | undefined>;

/** Processes already built, by full id, version and the schema types that they see. */
export class BuiltProcesses {
  private readonly processes = new Map<string, Promise<Process | undefined>>();
  private readonly numbers = new Map<object, number>();

  getOrBuild(
    uri: string,
    scope: Pick<Scope, "version" | "types">,
    build: () => Promise<Process | undefined>,
  ): Promise<Process | undefined> {
    const key = `${uri} ${scope.version} ${this.numberOf(scope.types)}`;
    let process = this.processes.get(key);
    if (process === undefined) {
      process = build();
      this.processes.set(key, process);
    }
    return process;
  }

  private numberOf(types: ReadonlyMap<string, CwlType>): number {
    // Every scope without types sees the same.
    const number = types.size === 0 ? 0 : (this.numbers.get(types) ?? this.numbers.size + 1);
    if (number > 0) {
      this.numbers.set(types, number);
    }
    return number;
  }
}

export function report(
  scope: Scope,
  object: object,
  member: string | number | undefined,
  message: string,
  more: { hint?: string; path?: string; severity?: Problem["severity"] } = {},
): void {
  scope.problems.push(problemAt(object, member, message, more));
}

export function location(scope: Scope, object: object, member?: string | number): SourceLocation {
  return locationOf(object, member) ?? { file: scope.document.uri, line: 1, column: 1 };
}
