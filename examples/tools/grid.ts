import { ToolError } from "./errors.ts";

/** Where the pixels of a north-up raster with square pixels lie. */
export interface Grid {
  readonly width: number;
  readonly height: number;
  /** Upper left corner in the units of the reference system. */
  readonly west: number;
  readonly north: number;
  readonly pixel: number;
  readonly epsg: number;
}

/** @throws {ToolError} when two rasters do not lie pixel on pixel */
export function checkSameGrid(one: Grid, other: Grid, names: string): void {
  for (const key of ["width", "height", "west", "north", "pixel", "epsg"] as const) {
    if (one[key] !== other[key]) {
      throw new ToolError(
        `${names} do not lie on the same grid: ${key} is ${one[key]} and ${other[key]}; resample one of them first`,
      );
    }
  }
}
