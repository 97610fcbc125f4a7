import { reprojectBbox } from "@swath/raster";

import { ToolError } from "./errors.ts";
import type { Grid } from "./grid.ts";
import { DEGREE_SYSTEM, systemOf, toDegrees } from "./raster.ts";

/** West, south, east, north in degrees. */
export type Box = readonly [number, number, number, number];

/** Columns and rows of a raster. */
export interface Window {
  readonly column: number;
  readonly row: number;
  readonly width: number;
  readonly height: number;
}

/** @throws {ToolError} naming the option and what is allowed */
export function parseBox(text: string, option: string): Box {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN, ...others] = text
    .split(",")
    .map(Number);
  if (
    others.length > 0 ||
    !(west < east && south < north && west >= -180 && east <= 180 && south >= -90 && north <= 90)
  ) {
    throw new ToolError(`${option} is "${text}"; write west,south,east,north in degrees`);
  }
  return [west, south, east, north];
}

/** The box in a reference system that holds all of a box of degrees, whose straight edges are curved there. */
export function boundsIn(epsg: number, box: Box): Box {
  const bounds = reprojectBbox(box, DEGREE_SYSTEM, systemOf(epsg));
  if (bounds === undefined) {
    throw new ToolError(`the box ${box.join(",")} cannot be shown in EPSG:${epsg}; take a system made for its place`);
  }
  return bounds;
}

/**
 * The pixels of a raster that a box touches.
 * @throws {ToolError} when it touches none
 */
export function findWindow(grid: Grid, box: Box, scene: string): Window {
  const [left, bottom, right, top] = boundsIn(grid.epsg, box);
  const toColumn = (x: number) => (x - grid.west) / grid.pixel;
  const toRow = (y: number) => (grid.north - y) / grid.pixel;
  const clip = (value: number, most: number) => Math.min(most, Math.max(0, value));
  const column = clip(Math.floor(toColumn(left)), grid.width);
  const row = clip(Math.floor(toRow(top)), grid.height);
  const width = clip(Math.ceil(toColumn(right)), grid.width) - column;
  const height = clip(Math.ceil(toRow(bottom)), grid.height) - row;
  if (!(width > 0 && height > 0)) {
    throw new ToolError(`the area of interest ${box.join(",")} does not touch the scene ${scene}`);
  }
  return { column, row, width, height };
}

/** The part of a raster in a window. */
export function cut(
  values: Float32Array,
  grid: Grid,
  { column, row, width, height }: Window,
): { readonly values: Float32Array<ArrayBuffer>; readonly grid: Grid } {
  const part = new Float32Array(width * height);
  for (let line = 0; line < height; line += 1) {
    const start = (row + line) * grid.width + column;
    part.set(values.subarray(start, start + width), line * width);
  }
  return {
    values: part,
    grid: { ...grid, width, height, west: grid.west + column * grid.pixel, north: grid.north - row * grid.pixel },
  };
}

/** Where a raster lies, in degrees: its four corners, and the box around them. */
export function footprintOf({ west, north, pixel, width, height, epsg }: Grid): {
  readonly bbox: Box;
  readonly geometry: object;
} {
  const [east, south] = [west + width * pixel, north - height * pixel];
  const corners = toDegrees(
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ],
    epsg,
  );
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return {
    bbox: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
    geometry: { type: "Polygon", coordinates: [[...corners, corners[0]]] },
  };
}
