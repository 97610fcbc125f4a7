import { createExact } from "./exact-map.ts";
import { findNodes } from "./find-nodes.ts";
import type { Georeferencing } from "./georeferencing.ts";
import type { Grid } from "./grid.ts";
import { createInterpolated } from "./interpolated-map.ts";
import type { Mapping, PixelMap } from "./map-parts.ts";
import { createReproject } from "./reproject.ts";

/** `westernmost`: longitude that the source's own degrees begin at, so that rasters of 0° to 360° and those over the antimeridian are found. */
export function createPixelMap(grid: Grid, source: Georeferencing, westernmost?: number): PixelMap {
  const mapping = createMapping(grid, source, westernmost);
  const nodes = findNodes(mapping, grid);
  return nodes === undefined ? createExact(grid, mapping) : createInterpolated(nodes);
}

/** Target pixel coordinates → source pixel coordinates, exactly. */
function createMapping(
  { crs, bbox, width, height }: Grid,
  source: Georeferencing,
  westernmost: number | undefined,
): Mapping {
  const [minX, minY, maxX, maxY] = bbox;
  const [resX, resY] = [(maxX - minX) / width, (maxY - minY) / height];
  const reproject = createReproject(crs, source.crs);
  const wrap = source.crs.isGeographic ? westernmost : undefined;
  return (xs, ys) => {
    for (let at = 0; at < xs.length; at += 1) {
      xs[at] = minX + xs[at]! * resX;
      ys[at] = maxY - ys[at]! * resY;
    }
    reproject(xs, ys);
    if (wrap !== undefined) {
      for (let at = 0; at < xs.length; at += 1) {
        xs[at] = toLongitudeFrom(wrap, xs[at]!);
      }
    }
    source.toPixels(xs, ys);
  };
}

/** The same longitude within a turn to the east of another one. What is there already keeps all its digits. */
export function toLongitudeFrom(west: number, longitude: number): number {
  return longitude < west || longitude >= west + 360 ? west + ((((longitude - west) % 360) + 360) % 360) : longitude;
}
