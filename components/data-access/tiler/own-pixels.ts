import type { Bbox, Clip, Crs } from "@swath/raster";

/**
 * Rasters without georeference are in columns and rows, counted from the upper left corner, for users: left, bottom, right, top of a box, as
 * in the bounds that GDAL's and rasterio's programs tell. Grids have their y upwards.
 */
export const toNamedBounds = ([minX, minY, maxX, maxY]: Bbox, { local }: Crs): Bbox =>
  local === "pixels" ? [minX, -minY, maxX, -maxY] : [minX, minY, maxX, maxY];

/** Takes bottom and top in any order. */
export const fromNamedBounds = ([left, bottom, right, top]: Bbox, { local }: Crs): Bbox =>
  local === "pixels" ? [left, -Math.max(bottom, top), right, -Math.min(bottom, top)] : [left, bottom, right, top];

export const fromNamedPoint = (x: number, y: number, { local }: Crs): readonly [x: number, y: number] => [
  x,
  local === "pixels" ? -y : y,
];

export const fromNamedArea = ({ crs, rings }: Clip): Clip => ({
  crs,
  rings: rings.map((ring) => ring.map(([x, y]) => fromNamedPoint(x, y, crs))),
});
