import { invalidRaster } from "../../errors.ts";
import { MAX_CUBE_OBJECTS } from "../../limits.ts";

/** @throws {RasterError} `invalid-raster` for more groups and arrays than are looked at */
export function checkCount(paths: readonly string[]): void {
  if (paths.length > MAX_CUBE_OBJECTS) {
    throw invalidRaster(`The Zarr data has ${paths.length} variables.`);
  }
}
