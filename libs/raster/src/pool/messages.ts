import type { RasterErrorCode } from "../errors.ts";

/** Methods of the engine that a worker runs. */
export type Method = "describe" | "version" | "image" | "statistics" | "point" | "pixels" | "coverage";

export type ToWorker =
  | { readonly kind: "run"; readonly id: number; readonly method: Method; readonly argument: unknown }
  | { readonly kind: "cancel"; readonly id: number };

export type FromWorker =
  /** A part of a result that comes in parts. */
  | { readonly kind: "part"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly error: { readonly code: RasterErrorCode | undefined; readonly message: string; readonly stack?: string };
    };
