import { writeFile } from "node:fs/promises";

import {
  MAX_OUTPUT_PIXELS,
  RasterEngine,
  RasterError,
  type SampleType,
  type Samples,
  createReproject,
  createSamples,
  encodeCog,
  parseCrs,
} from "@swath/raster";

import { ToolError } from "./errors.ts";
import type { Grid } from "./grid.ts";

/** Rows are read by this many pixels: their places are in memory beside them. */
const STRIP_PIXELS = MAX_OUTPUT_PIXELS / 4;
const CACHE_BYTES = 64 * 1024 * 1024;

/** A band of a file on a grid. */
export interface BandData {
  readonly grid: Grid;
  readonly data: Samples;
  /** 0 for pixels without a value. */
  readonly mask: Uint8Array;
  readonly noData: number | undefined;
}

export interface CogOptions {
  readonly noData: number;
  /** `nearest` for classes, `average` for measurements. */
  readonly overviews: "nearest" | "average";
  /** Where it is 0, the file has no value; every sample counts as it is when left out. */
  readonly mask?: Uint8Array;
}

/**
 * Reads a band of a raster.
 * @param choose which, from 0, of so many; the first when left out
 * @param onto the grid that gets the nearest pixels; the raster's own when left out
 */
export async function readRaster(
  path: string,
  choose: (count: number) => number = () => 0,
  onto?: Grid,
): Promise<BandData> {
  const engine = new RasterEngine({ cacheBytes: CACHE_BYTES });
  const location = { kind: "file", path } as const;
  try {
    const { info } = await engine.describe(location);
    const grid = onto ?? toGrid(path, info);
    const band = choose(info.bands.length);
    const { type = "uint8", nodata: noData } = info.bands[band] ?? {};
    const data = createSamples(type, grid.width * grid.height);
    const mask = new Uint8Array(data.length);
    const rows = Math.max(1, Math.floor(STRIP_PIXELS / grid.width));
    for (let row = 0; row < grid.height; row += rows) {
      const strip = toRows(grid, row, Math.min(rows, grid.height - row));
      const { planes } = await engine.pixels({
        scenes: [{ assets: { file: { location } } }],
        grid: toRasterGrid(strip),
        expressions: [`b${band + 1}`],
      });
      data.set(planes[0]?.samples ?? [], row * grid.width);
      mask.set(planes[0]?.mask ?? [], row * grid.width);
    }
    return { grid, data, mask, noData };
  } catch (error) {
    throw error instanceof RasterError ? new ToolError(`${path}: ${error.message}`, { cause: error }) : error;
  } finally {
    await engine.close();
  }
}

/** Writes a Cloud-Optimised GeoTIFF. */
export async function writeCog(
  path: string,
  grid: Grid,
  samples: Samples,
  { noData, overviews, mask = new Uint8Array(samples.length).fill(255) }: CogOptions,
): Promise<void> {
  const type = typeOf(samples);
  const readRows = async (first: number, rows: number) => {
    const [from, to] = [first * grid.width, (first + rows) * grid.width];
    return [{ samples: samples.subarray(from, to), mask: mask.subarray(from, to), type }];
  };
  await writeFile(path, encodeCog(toRasterGrid(grid), readRows, { type, nodata: noData, overviews, bands: [{}] }));
}

export const typeOf = (samples: Samples): SampleType =>
  samples.constructor.name.replace("Array", "").toLowerCase() as SampleType;

/** The system of a grid. @throws {ToolError} */
export function systemOf(epsg: number): ReturnType<typeof parseCrs> {
  try {
    return parseCrs(`EPSG:${epsg}`);
  } catch (error) {
    throw error instanceof RasterError ? new ToolError(error.message) : error;
  }
}

export const DEGREE_SYSTEM = parseCrs("OGC:CRS84");

/** Longitudes and latitudes of points of a grid's system. */
export function toDegrees(
  points: readonly (readonly [number, number])[],
  epsg: number,
): readonly (readonly [number, number])[] {
  const [xs, ys] = [Float64Array.from(points, ([x]) => x), Float64Array.from(points, ([, y]) => y)];
  createReproject(systemOf(epsg), DEGREE_SYSTEM)(xs, ys);
  return points.map((_, index) => [xs[index] ?? Number.NaN, ys[index] ?? Number.NaN]);
}

type RasterInfo = Awaited<ReturnType<RasterEngine["describe"]>>["info"];

function toGrid(path: string, { crs, transform, width, height }: RasterInfo): Grid {
  const epsg = Number(/^EPSG:(\d+)$/.exec(crs?.id ?? "")?.[1]);
  if (!Number.isInteger(epsg)) {
    throw new ToolError(`${path} does not say its reference system by an EPSG code`);
  }
  const [pixel, rowX, west, columnY, down, north] = transform ?? [0, 0, 0, 0, 0, 0];
  if (!(pixel > 0) || rowX !== 0 || columnY !== 0 || Math.abs(pixel + down) > 1e-9 * pixel) {
    throw new ToolError(`${path} has pixels of ${pixel} by ${-down}; square pixels, north up, are needed`);
  }
  return { width, height, west, north, pixel, epsg };
}

const toRows = (grid: Grid, row: number, height: number): Grid => ({
  ...grid,
  height,
  north: grid.north - row * grid.pixel,
});

function toRasterGrid({ west, north, pixel, width, height, epsg }: Grid) {
  const bbox = [west, north - height * pixel, west + width * pixel, north] as const;
  return { crs: systemOf(epsg), bbox, width, height };
}
