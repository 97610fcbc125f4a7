import { RasterError } from "../errors.ts";
import type { RasterInfo } from "../readers/raster.ts";
import { type Crs, parseCrs } from "../warp/crs.ts";
import { createGeoreferencing } from "../warp/georeferencing.ts";
import type { Bbox, Grid } from "../warp/grid.ts";
import { boundPoints, createReproject, reprojectBbox } from "../warp/reproject.ts";

export const MAX_OUTPUT_PIXELS = 4096 * 4096;

/** A grid of which some is left to the raster: its own system, extent and resolution. */
export interface GridRequest {
  readonly crs?: Crs;
  readonly bbox?: Bbox;
  /** System of the box, when not the grid's own. */
  readonly bboxCrs?: Crs;
  readonly width?: number;
  readonly height?: number;
  /** The longer side has at most this many pixels. */
  readonly maxSize?: number;
  /** Widens the box to whole pixels of the raster, as `gdalwarp` would place them in the grid's system. */
  readonly isAligned?: boolean;
}

/** The extent of a raster in a system; `undefined` where it cannot be shown there. */
export function boundsOf(info: RasterInfo, crs: Crs): Bbox | undefined {
  const georeferencing = createGeoreferencing(info);
  const points = 21;
  const xs = new Float64Array(points * points);
  const ys = new Float64Array(points * points);
  for (let at = 0; at < xs.length; at += 1) {
    xs[at] = ((at % points) / (points - 1)) * info.width;
    ys[at] = (Math.floor(at / points) / (points - 1)) * info.height;
  }
  georeferencing.toCoordinates(xs, ys);
  createReproject(georeferencing.crs, crs)(xs, ys);
  return boundPoints(xs, ys, crs.isGeographic);
}

/** @throws {RasterError} `invalid-request`, `too-large` */
export function resolveGrid(request: GridRequest, info: RasterInfo): Grid {
  const source = createGeoreferencing(info).crs;
  const crs = request.crs ?? source;
  const requested =
    request.bbox === undefined
      ? boundsOf(info, crs)
      : request.bboxCrs === undefined
        ? request.bbox
        : reprojectBbox(request.bbox, request.bboxCrs, crs);
  if (requested === undefined) {
    throw new RasterError("invalid-request", "The area cannot be shown in this coordinate reference system.");
  }
  const bbox = request.isAligned === true ? alignBbox(requested, info, crs) : requested;
  const { width, height } = toSize(request, bbox, crs, info);
  return checkSize({ crs, bbox, width, height });
}

export function checkSize(grid: Grid): Grid {
  if (grid.width * grid.height > MAX_OUTPUT_PIXELS) {
    throw new RasterError(
      "too-large",
      `${grid.width} × ${grid.height} pixels are more than the ${MAX_OUTPUT_PIXELS} allowed.`,
    );
  }
  return grid;
}

function alignBbox([minX, minY, maxX, maxY]: Bbox, info: RasterInfo, crs: Crs): Bbox {
  const bounds = boundsOf(info, crs);
  if (bounds === undefined) {
    throw new RasterError("invalid-request", "The raster cannot be shown in this coordinate reference system.");
  }
  const { x, y } = resolutionOf(info, crs);
  const [left, , , top] = bounds;
  const snap = (value: number, round: (count: number) => number, cell: number) =>
    // A box on the edges of pixels stays where it is.
    Math.abs(value / cell - Math.round(value / cell)) < 1e-6
      ? Math.round(value / cell) * cell
      : round(value / cell) * cell;
  return [
    left + snap(minX - left, Math.floor, x),
    top - snap(top - minY, Math.ceil, y),
    left + snap(maxX - left, Math.ceil, x),
    top - snap(top - maxY, Math.floor, y),
  ];
}

function toSize(
  { width, height, maxSize }: GridRequest,
  bbox: Bbox,
  crs: Crs,
  info: RasterInfo,
): { width: number; height: number } {
  if (width !== undefined && height !== undefined) {
    return { width, height };
  }
  const ratio = (bbox[2] - bbox[0]) / (bbox[3] - bbox[1]);
  if (width !== undefined) {
    return { width, height: Math.max(1, ceilPixels(width / ratio)) };
  }
  if (height !== undefined) {
    return { width: Math.max(1, ceilPixels(height * ratio)), height };
  }
  const { x, y } = resolutionOf(info, crs);
  const [nativeWidth, nativeHeight] = [
    Math.max(1, Math.round((bbox[2] - bbox[0]) / x)),
    Math.max(1, Math.round((bbox[3] - bbox[1]) / y)),
  ];
  const shrink = maxSize === undefined ? 1 : Math.min(1, maxSize / Math.max(nativeWidth, nativeHeight));
  return {
    width: Math.max(1, ceilPixels(nativeWidth * shrink)),
    height: Math.max(1, ceilPixels(nativeHeight * shrink)),
  };
}

/** Up, as rio-tiler; sums of floats may be a little above a whole number. */
const ceilPixels = (pixels: number) => Math.ceil(pixels - 1e-6);

/** The size of a pixel in a system, as GDALSuggestedWarpOutput has it. */
export function resolutionOf(info: RasterInfo, crs: Crs): { x: number; y: number } {
  const { transform } = info;
  const isOwn = createGeoreferencing(info).crs.id === crs.id;
  if (transform !== undefined && isOwn && transform[1] === 0 && transform[3] === 0) {
    return { x: Math.abs(transform[0]), y: Math.abs(transform[4]) };
  }
  const bounds = boundsOf(info, crs);
  if (bounds === undefined) {
    throw new RasterError("invalid-request", "The raster cannot be shown in this coordinate reference system.");
  }
  // The diagonal between two corners keeps its number of pixels.
  const [xs, ys] = [Float64Array.of(0, info.width), Float64Array.of(0, info.height)];
  const georeferencing = createGeoreferencing(info);
  georeferencing.toCoordinates(xs, ys);
  createReproject(georeferencing.crs, crs)(xs, ys);
  const [dx, dy] = [Math.abs(xs[1]! - xs[0]!), Math.abs(ys[1]! - ys[0]!)];
  // Corners may have no place in the system, and those on both sides of the antimeridian are not a turn apart.
  const isUsable = dx > 0 && dy > 0 && dx <= (bounds[2] - bounds[0]) * 1.001;
  const diagonal = isUsable ? Math.hypot(dx, dy) : Math.hypot(bounds[2] - bounds[0], bounds[3] - bounds[1]);
  const size = diagonal / Math.hypot(info.width, info.height);
  return { x: size, y: size };
}

/** West, south, east, north in degrees; `undefined` for rasters that do not say where they are. */
export function geographicBoundsOf(info: RasterInfo): Bbox | undefined {
  return createGeoreferencing(info).crs.local === undefined ? boundsOf(info, parseCrs("OGC:CRS84")) : undefined;
}
