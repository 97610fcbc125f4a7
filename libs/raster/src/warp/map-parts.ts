import type { Memory } from "../memory.ts";

/** Where each pixel centre of a grid is in a raster: columns and rows of the full image, NaN where it is nowhere. */
export interface PixelMap {
  /** Source pixels a target pixel covers, in each direction of the source. */
  readonly scaleX: number;
  readonly scaleY: number;
  /** The pixels of a part that may fall on a raster of a size; `undefined` for none. */
  readonly findPart: (within: Part, raster: WindowSize) => Part | undefined;
  /** Extent of the points of a part. */
  readonly boundsOf: (part: Part) => Bounds | undefined;
  /** Points of a part of the grid, in pixels of a window. */
  readonly toPoints: (
    part: Part,
    window: WindowTransform,
    memory?: Memory,
  ) => { columns: Float64Array; rows: Float64Array };
  /** Numbers of the blocks' pixels that points of a part fall on, -1 outside: what nearest neighbour needs. Valid until the next call. */
  readonly toIndex: (part: Part, window: WindowTransform, blocks: BlockIndex) => Int32Array;
}

/** Pixels of a grid. */
export interface Part {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Column of the window = (column of the full image · ratio − origin) / every. */
export interface WindowTransform {
  readonly ratioX: number;
  readonly ratioY: number;
  readonly originX: number;
  readonly originY: number;
  readonly every: number;
}

export interface Bounds {
  readonly minColumn: number;
  readonly minRow: number;
  readonly maxColumn: number;
  readonly maxRow: number;
}

/** Pixels by blocks: number of the block · pixels of a block + number of the pixel in it. */
export interface BlockIndex {
  /** Size of what pixels are looked for in. */
  readonly width: number;
  readonly height: number;
  /** Blocks in a row. */
  readonly columns: number;
  /** Exponents of the sides of a block. */
  readonly shiftX: number;
  readonly shiftY: number;
}

export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

const MAX_KEPT_INDEX = 4 * 1024 * 1024;

let kept = new Int32Array(0);

/** Memory for one calculation in this thread; what it held before is overwritten by the next call. */
export function takeIndex(length: number): Int32Array {
  if (length > MAX_KEPT_INDEX) {
    return new Int32Array(length);
  }
  if (kept.length < length) {
    kept = new Int32Array(length);
  }
  return kept.subarray(0, length);
}

/** Numbers of the source's pixels that points fall on, -1 outside. Valid until the next call. */
export function toNearestIndex(columns: Float64Array, rows: Float64Array, width: number, height: number): Int32Array {
  const index = takeIndex(columns.length);
  for (let at = 0; at < index.length; at += 1) {
    const column = columns[at]!;
    const row = rows[at]!;
    index[at] = column >= 0 && column < width && row >= 0 && row < height ? (row | 0) * width + (column | 0) : -1;
  }
  return index;
}

export function intersectParts(a: Part, b: Part): Part | undefined {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

export const toPart = (bounds: Bounds | undefined): Part | undefined =>
  bounds && {
    x: bounds.minColumn,
    y: bounds.minRow,
    width: bounds.maxColumn - bounds.minColumn + 1,
    height: bounds.maxRow - bounds.minRow + 1,
  };

export function createExtent(): {
  readonly add: (x: number, y: number) => void;
  readonly get: () => Bounds | undefined;
} {
  let [minColumn, minRow, maxColumn, maxRow] = [Infinity, Infinity, -Infinity, -Infinity];
  return {
    add: (x, y) => {
      // Comparisons with NaN are false.
      if (x < minColumn) {
        minColumn = x;
      }
      if (x > maxColumn) {
        maxColumn = x;
      }
      if (y < minRow) {
        minRow = y;
      }
      if (y > maxRow) {
        maxRow = y;
      }
    },
    get: () => (minColumn <= maxColumn && minRow <= maxRow ? { minColumn, minRow, maxColumn, maxRow } : undefined),
  };
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1;
}

/** In place: pixels of the grid → columns and rows of the raster. */
export type Mapping = (xs: Float64Array, ys: Float64Array) => void;
