import { invalidRequest } from "../errors.ts";
import type { Crs } from "./crs.ts";

/** West, south, east, north: x before y whatever the system's own order is. */
export type Bbox = readonly [minX: number, minY: number, maxX: number, maxY: number];

/** The pixels that are asked for: north up, the box is their outer edge. */
export interface Grid {
  readonly crs: Crs;
  readonly bbox: Bbox;
  readonly width: number;
  readonly height: number;
}

/** @throws {RasterError} `invalid-request` for empty or endless boxes and sizes that are no counts */
export function checkGrid({ bbox, width, height }: Grid): void {
  const [minX, minY, maxX, maxY] = bbox;
  if (!bbox.every(Number.isFinite) || minX >= maxX || minY >= maxY) {
    throw invalidRequest("The bounding box must be four finite numbers, the lower ones first.");
  }
  if (!Number.isInteger(width) || !Number.isInteger(height) || width < 1 || height < 1) {
    throw invalidRequest("Width and height must be whole numbers of at least 1.");
  }
}
