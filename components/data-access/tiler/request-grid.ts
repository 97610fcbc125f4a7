import { type GridRequest, MAX_OUTPUT_PIXELS, type OutputFormat } from "@swath/raster";
import { Problem } from "@swath/service";

import { type Query, one, parseCount } from "./parameters.ts";

/** The longer side of pictures of which no size was asked for. */
export const PREVIEW_SIZE = 1024;
export const MAX_TILE_SIZE = 2048;
const FORMATS: ReadonlyMap<string, OutputFormat> = new Map(
  Object.entries<OutputFormat>({
    png: "png",
    jpg: "jpeg",
    jpeg: "jpeg",
    webp: "webp",
    npy: "npy",
    tif: "tif",
  }),
);
export function toFormat(text: string | undefined): { format?: OutputFormat } {
  if (text === undefined) {
    return {};
  }
  const format = FORMATS.get(text.toLowerCase());
  if (format === undefined) {
    throw new Problem(400, `The format must be one of ${[...FORMATS.keys()].join(", ")}.`);
  }
  return { format };
}

export function sizeOf(query: Query, size: readonly [number, number] | undefined): Partial<GridRequest> {
  const width = size?.[0] ?? parseCount(query, "width", MAX_OUTPUT_PIXELS);
  const height = size?.[1] ?? parseCount(query, "height", MAX_OUTPUT_PIXELS);
  return width === undefined && height === undefined
    ? { maxSize: parseCount(query, "max_size", 4096) ?? PREVIEW_SIZE }
    : { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
}

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

export function parseZoom(query: Query, name: string): number | undefined {
  const text = one(query[name]);
  return text !== undefined && /^\d{1,2}$/.test(text) ? Number(text) : undefined;
}
