import type { CwlErrorCode, Problem } from "../errors.ts";
import type { LoadLimits } from "./budget.ts";
import type { LoadedDocument } from "./load.ts";

/** What a thread is started with. */
export interface LoaderThread {
  /** Address of the module that `run` calls. */
  readonly work: string | undefined;
}

/** What the thread is asked to load. */
export interface LoadRequest {
  readonly reference: string;
  readonly text: string | undefined;
  readonly localFiles: boolean | undefined;
  readonly limits: Partial<LoadLimits>;
  readonly applicationPackage: boolean;
  /** Whether it may ask for texts that it cannot read itself. */
  readonly hasFetcher: boolean;
}

export type ToLoader =
  | { readonly type: "load"; readonly request: LoadRequest }
  | { readonly type: "run"; readonly argument: unknown }
  | { readonly type: "text"; readonly id: number; readonly text: string }
  | { readonly type: "no-text"; readonly id: number; readonly code: CwlErrorCode; readonly message: string };

export type FromLoader =
  | { readonly type: "ready" }
  | { readonly type: "fetch"; readonly id: number; readonly uri: string; readonly limit: number }
  | {
      readonly type: "loaded";
      /** Without its store, which holds what cannot be passed on. */
      readonly document: Omit<LoadedDocument, "store"> | undefined;
      readonly problems: readonly Problem[];
    }
  | { readonly type: "done"; readonly result: unknown }
  | { readonly type: "failed"; readonly message: string };
