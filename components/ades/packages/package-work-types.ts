import type { Problem, RunEvent, ValueObject, RequestedFormats, WorkflowGraph } from "@swath/cwl";

import type { PackageFacts } from "./package-facts.ts";

/** Which process of which package. */
export interface PackageName {
  readonly text: string;
  /** Its id in the package; a package without a `$graph` is its own only process. */
  readonly process: string;
}

/** What can be done with a package off the event loop, and what comes of it. */
export interface PackageWork {
  /** A package as somebody sent it. */
  readonly check: {
    readonly requested: { readonly text: string; readonly workflow: string | undefined; readonly advice: boolean };
    readonly found: CheckedPackage;
  };
  /** A package that was checked when it was deployed. */
  readonly facts: { readonly requested: PackageName; readonly found: PackageFacts };
  readonly graph: { readonly requested: PackageName; readonly found: WorkflowGraph };
  /** What of an ontology these formats need; other limits hold for its size than for packages. */
  readonly reduceOntology: {
    readonly requested: { readonly text: string; readonly formats: RequestedFormats };
    readonly found: string;
  };
  /** Its text as JSON. */
  readonly convert: { readonly requested: { readonly text: string }; readonly found: unknown };
  readonly describeRun: {
    readonly requested: PackageName & {
      readonly inputs: ValueObject;
      readonly outputs: ValueObject;
      readonly events: readonly RunEvent[];
    };
    readonly found: object;
  };
}

export interface CheckedPackage {
  /** Ids of its workflows. */
  readonly workflows: readonly string[];
  /** Addresses of documents that it refers to and that are not there. */
  readonly missing: readonly string[];
  readonly problems: readonly Problem[];
  /** Addresses of the ontologies that it names, if formats of its inputs need any. */
  readonly ontologies: readonly string[];
  readonly formats: RequestedFormats;
  /** There where it can be run. */
  readonly facts?: PackageFacts;
  readonly graph?: WorkflowGraph;
}

export interface WorkRequest {
  readonly kind: keyof PackageWork;
  readonly requested: unknown;
}

export type WorkResponse = { readonly found: unknown } | { readonly error: WorkError };

/** An error as it passes between threads. */
export interface WorkError {
  readonly message: string;
  /** Members of an OgcError. */
  readonly ogc?: {
    readonly status: number;
    readonly title: string;
    readonly type: string;
    readonly extensions: Readonly<Record<string, unknown>>;
  };
}
