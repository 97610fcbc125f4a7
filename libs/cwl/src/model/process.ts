import type { CwlType, FileOptions, OutputBinding } from "./types.ts";
import type { Value } from "./values.ts";

export type CwlVersion = "v1.0" | "v1.1" | "v1.2" | "v1.3.0-dev1";

/** A place in a source file; what problems and run-time errors point at. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Binding {
  readonly position: number | string;
  readonly prefix: string | undefined;
  readonly separate: boolean;
  readonly itemSeparator: string | undefined;
  readonly valueFrom: string | undefined;
  readonly shellQuote: boolean;
}

export interface InputParameter extends FileOptions {
  readonly name: string;
  readonly type: CwlType;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  /** undefined when the parameter has no default. */
  readonly default: Value | undefined;
  readonly binding: Binding | undefined;
  readonly location: SourceLocation;
}

export interface OutputParameter extends FileOptions {
  readonly name: string;
  readonly type: CwlType;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly outputBinding: OutputBinding | undefined;
  readonly location: SourceLocation;
}

/** One requirement or hint: its fields as written, with references and expressions untouched. */
export interface Requirement {
  readonly class: string;
  readonly fields: { readonly [key: string]: unknown };
  /** false for a hint. */
  readonly required: boolean;
  readonly location: SourceLocation;
}

interface ProcessBase {
  /** Full URI with fragment. */
  readonly id: string;
  /** Last part of the id, for people. */
  readonly name: string;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly version: CwlVersion;
  readonly inputs: readonly InputParameter[];
  readonly requirements: readonly Requirement[];
  readonly hints: readonly Requirement[];
  readonly location: SourceLocation;
  /** Fields of other vocabularies (`s:softwareVersion`), prefix expanded. */
  readonly metadata: { readonly [iri: string]: unknown };
}

export interface CommandLineTool extends ProcessBase {
  readonly class: "CommandLineTool";
  readonly outputs: readonly OutputParameter[];
  readonly baseCommand: readonly string[];
  readonly arguments: readonly (string | Binding)[];
  readonly stdin: string | undefined;
  readonly stdout: string | undefined;
  readonly stderr: string | undefined;
  readonly successCodes: readonly number[];
  readonly temporaryFailCodes: readonly number[];
  readonly permanentFailCodes: readonly number[];
}

export interface ExpressionTool extends ProcessBase {
  readonly class: "ExpressionTool";
  readonly outputs: readonly OutputParameter[];
  readonly expression: string;
}

export interface Operation extends ProcessBase {
  readonly class: "Operation";
  readonly outputs: readonly OutputParameter[];
}

export interface Workflow extends ProcessBase {
  readonly class: "Workflow";
  readonly outputs: readonly WorkflowOutput[];
  readonly steps: readonly Step[];
}

export type Process = CommandLineTool | ExpressionTool | Operation | Workflow;

export type LinkMerge = "merge_nested" | "merge_flattened";
export type PickValue = "first_non_null" | "the_only_non_null" | "all_non_null";

/** Where a value comes from: a workflow input (`step` undefined) or an output of a step. */
export interface Source {
  readonly step: string | undefined;
  readonly port: string;
}

interface Sink {
  readonly sources: readonly Source[];
  /** Whether the source was written as a list: one source in a list is still merged. */
  readonly sourceIsList: boolean;
  readonly linkMerge: LinkMerge | undefined;
  readonly pickValue: PickValue | undefined;
}

export interface WorkflowOutput extends OutputParameter, Sink {}

export interface StepInput extends Sink {
  readonly name: string;
  readonly default: Value | undefined;
  readonly valueFrom: string | undefined;
  readonly loadContents: boolean;
  readonly loadListing: FileOptions["loadListing"];
  readonly label: string | undefined;
  readonly location: SourceLocation;
}

export type ScatterMethod = "dotproduct" | "nested_crossproduct" | "flat_crossproduct";

export interface Step {
  readonly name: string;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly run: Process;
  readonly inputs: readonly StepInput[];
  readonly outputs: readonly string[];
  readonly requirements: readonly Requirement[];
  readonly hints: readonly Requirement[];
  readonly scatter: readonly string[];
  readonly scatterMethod: ScatterMethod | undefined;
  readonly when: string | undefined;
  /** The step runs again as long as `when` is true; undefined for a step that runs once. */
  readonly loop: Loop | undefined;
  readonly location: SourceLocation;
}

export interface Loop {
  /** Inputs of each iteration after the first that come from outputs of the one before. All others stay as they were. */
  readonly inputs: readonly LoopInput[];
  readonly outputMethod: "last" | "all";
}

export interface LoopInput {
  readonly name: string;
  /** Outputs of the step. */
  readonly sources: readonly string[];
  readonly sourceIsList: boolean;
  readonly linkMerge: LinkMerge | undefined;
  readonly pickValue: PickValue | undefined;
  readonly default: Value | undefined;
  readonly valueFrom: string | undefined;
}
