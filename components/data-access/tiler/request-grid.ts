import { type Grid, type GridRequest, type ImageRequest, MAX_OUTPUT_PIXELS, type OutputFormat } from "@swath/raster";
import { Problem } from "@swath/service";

import { type Query, one, parseCount } from "./parameters.ts";

/** The longer side of pictures of which no size was asked for. */
export const PREVIEW_SIZE = 1024;
export const MAX_TILE_SIZE = 2048;
const MAX_BUFFER = 256;
const FORMATS: ReadonlyMap<string, OutputFormat> = new Map(
  Object.entries<OutputFormat>({
    png: "png",
    jpg: "jpeg",
    jpeg: "jpeg",
    webp: "webp",
    npy: "npy",
    tif: "tif",
    tiff: "tif",
  }),
);

/** JPEG has no transparency: missing pixels are black there, as in today's tilers. @throws {Problem} 400 */
export function toFormat(text: string | undefined): Pick<ImageRequest, "format" | "background"> {
  if (text === undefined) {
    return {};
  }
  const format = FORMATS.get(text.toLowerCase());
  if (format === undefined) {
    throw new Problem(400, `The format must be one of ${[...FORMATS.keys()].join(", ")}.`);
  }
  return { format, ...(format === "jpeg" && { background: [0, 0, 0] }) };
}

/**
 * The size that a request names, else at most `maxSize` pixels on the longer side; 0 is the raster's own resolution.
 * @throws {Problem} 400
 */
export function sizeOf(
  query: Query,
  size: readonly [number, number] | undefined,
  maxSize = PREVIEW_SIZE,
): Partial<GridRequest> {
  const width = size?.[0] ?? parseCount(query, "width", MAX_OUTPUT_PIXELS);
  const height = size?.[1] ?? parseCount(query, "height", MAX_OUTPUT_PIXELS);
  return width === undefined && height === undefined
    ? toMaxSize(one(query["max_size"]) === "0" ? 0 : (parseCount(query, "max_size", 4096) ?? maxSize))
    : { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
}

const toMaxSize = (maxSize: number) => (maxSize === 0 ? {} : { maxSize });

export function parsePathSize(params: unknown): { size?: readonly [number, number]; format?: string } {
  const { size, format } = params as { size?: string; format?: string };
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  if (size !== undefined && (width === undefined || height === undefined)) {
    throw new Problem(400, "The size must be <width>x<height>.");
  }
  return {
    ...(width !== undefined && height !== undefined && { size: [Number(width), Number(height)] as const }),
    ...(format !== undefined && { format }),
  };
}

export function parseNumbers(text: string, count: number): readonly number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.length !== count || numbers.some((value) => !Number.isFinite(value))) {
    throw new Problem(400, `${count} numbers separated by commas are expected.`);
  }
  return numbers;
}

/** @throws {Problem} 400 */
export function parseZoom(query: Query, name: string): number | undefined {
  const text = one(query[name]);
  if (text !== undefined && !/^\d{1,2}$/.test(text)) {
    throw new Problem(400, `${name} must be a whole number from 0 to 99.`);
  }
  return text === undefined ? undefined : Number(text);
}

/** A tile with `buffer` more pixels on each side, of the same size on the ground. @throws {Problem} 400 */
export function addBuffer(tile: Grid, query: Query): Grid {
  const text = one(query["buffer"]);
  const buffer = Number(text ?? 0);
  if (text !== undefined && !(buffer >= 0 && buffer <= MAX_BUFFER && Number.isInteger(buffer * 2))) {
    throw new Problem(400, `buffer must be a number of pixels from 0 to ${MAX_BUFFER}, in steps of 0.5.`);
  }
  const [west, south, east, north] = tile.bbox;
  const [x, y] = [((east - west) / tile.width) * buffer, ((north - south) / tile.height) * buffer];
  return {
    ...tile,
    bbox: [west - x, south - y, east + x, north + y],
    width: tile.width + 2 * buffer,
    height: tile.height + 2 * buffer,
  };
}
