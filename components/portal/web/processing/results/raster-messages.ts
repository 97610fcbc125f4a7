import type { RasterStatistics } from "../model/raster-statistics.ts";

export interface RasterRequest {
  readonly id: number;
  /** Whole address. */
  readonly url: string;
  /** Counted from 1. */
  readonly band: number;
}

export interface RasterResponse {
  readonly bands: number;
  readonly width: number;
  readonly height: number;
  /** 1: every pixel was read; 4: an overview with a fourth of the pixels across. */
  readonly reducedBy: number;
  readonly noData: number | null;
  /** West, south, east, north in the reference system of the file; left out where it says neither. */
  readonly place?: { readonly code: string; readonly bounds: readonly [number, number, number, number] };
  /** `undefined` when no pixel has a value. */
  readonly statistics: RasterStatistics | undefined;
}
