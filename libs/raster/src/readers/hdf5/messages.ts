import type { CubeVariable } from "../cube/cube.ts";
import type { Samples } from "../raster.ts";

/** What the thread with the library is started with. */
export interface Hdf5Start {
  readonly size: number;
  /** Two numbers: whether bytes have come, and how many (or −1); then the bytes themselves. */
  readonly mailbox: SharedArrayBuffer;
}

export type ToHdf5 =
  | { readonly kind: "list" }
  | {
      readonly kind: "read";
      readonly name: string;
      readonly start: readonly number[];
      readonly count: readonly number[];
    };

export interface Hdf5Contents {
  readonly isNetcdf: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly variables: readonly CubeVariable[];
  /** Filters without which variables were left out. */
  readonly missingFilters: readonly string[];
}

export type FromHdf5 =
  /** Asks for bytes of the file; the thread waits for them in the mailbox. */
  | { readonly kind: "bytes"; readonly offset: number; readonly length: number }
  | { readonly kind: "listed"; readonly contents: Hdf5Contents }
  | { readonly kind: "samples"; readonly samples: Samples }
  | { readonly kind: "failed"; readonly message: string };

export const MAILBOX_HEADER_BYTES = 8;
export const MAILBOX_BYTES = 1024 * 1024;
