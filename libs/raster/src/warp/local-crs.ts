import { RasterError } from "../errors.ts";
import type { RasterInfo } from "../readers/raster.ts";
import type { Crs } from "./crs.ts";

/**
 * The system of a raster that does not say in which it is: its coordinates where it has some, else its pixels. It is known by the place and
 * size of the raster, so that others are not laid over it where their pixels do not fit.
 */
export function toLocalCrs({ transform, width, height }: Pick<RasterInfo, "transform" | "width" | "height">): Crs {
  return {
    id: `local:${transform === undefined ? "pixels" : transform.join(",")}:${width}x${height}`,
    proj4: "",
    isGeographic: false,
    isNorthFirst: false,
    unit: 1,
    local: transform === undefined ? "pixels" : "coordinates",
  };
}

/** @throws {RasterError} `unsupported` where just one of two systems is that of a raster without georeference, or both of another raster */
export function checkPlaced(from: Crs, to: Crs): void {
  if ((from.local !== undefined || to.local !== undefined) && from.id !== to.id) {
    throw new RasterError(
      "unsupported",
      "The raster is not georeferenced: it is shown in its own pixels, alone, and in no coordinate reference system.",
    );
  }
}
