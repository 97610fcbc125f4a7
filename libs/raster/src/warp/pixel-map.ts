import type { Georeferencing } from "./georeferencing.ts";
import type { Grid } from "./grid.ts";
import { createReproject, isSame } from "./reproject.ts";

/** Distance of exactly transformed points; what is between them is interpolated where that is exact enough. */
const INITIAL_STEP = 32;
const MIN_STEP = 4;
/** How far an interpolated point may be off, in source pixels or, where those are smaller, target pixels. */
const MAX_ERROR_PIXELS = 0.001;

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
  readonly toPoints: (part: Part, window: WindowTransform) => { columns: Float64Array; rows: Float64Array };
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

interface Bounds {
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

interface WindowSize {
  readonly width: number;
  readonly height: number;
}

const FULL_IMAGE: WindowTransform = { ratioX: 1, ratioY: 1, originX: 0, originY: 0, every: 1 };

type Mapping = (xs: Float64Array, ys: Float64Array) => void;

/** Exactly transformed centres of pixels, `step` apart; the last ones may be nearer to those before them. */
interface Nodes {
  readonly step: number;
  /** Cells between them. */
  readonly across: number;
  readonly down: number;
  /** Pixel that the last node of a row, or of a column, belongs to. */
  readonly lastColumn: number;
  readonly lastRow: number;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
}

/** `westernmost`: longitude that the source's own degrees begin at, so that rasters of 0° to 360° and those over the antimeridian are found. */
export function createPixelMap(grid: Grid, source: Georeferencing, westernmost?: number): PixelMap {
  const mapping = createMapping(grid, source, westernmost);
  for (let step = INITIAL_STEP; step >= MIN_STEP; step /= 2) {
    const nodes = findNodes(mapping, grid, step);
    if (nodes !== undefined) {
      return createInterpolated(nodes);
    }
  }
  return createExact(grid, mapping);
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
  const wrap =
    westernmost !== undefined && source.crs.isGeographic && !isSame(crs, source.crs) ? westernmost : undefined;
  return (xs, ys) => {
    for (let at = 0; at < xs.length; at += 1) {
      xs[at] = minX + xs[at]! * resX;
      ys[at] = maxY - ys[at]! * resY;
    }
    reproject(xs, ys);
    if (wrap !== undefined) {
      for (let at = 0; at < xs.length; at += 1) {
        xs[at] = wrap + ((((xs[at]! - wrap) % 360) + 360) % 360);
      }
    }
    source.toPixels(xs, ys);
  };
}

/** `undefined` when the centre of a cell shows that interpolating between its corners is not exact enough. */
function findNodes(mapping: Mapping, { width, height }: Grid, step: number): Nodes | undefined {
  // A grid of one pixel is given a neighbour, so that its scale is known.
  const [lastColumn, lastRow] = [Math.max(1, width - 1), Math.max(1, height - 1)];
  const across = Math.ceil(lastColumn / step);
  const down = Math.ceil(lastRow / step);
  const count = (across + 1) * (down + 1);
  const [xs, ys] = [new Float64Array(count), new Float64Array(count)];
  const [centreX, centreY] = [new Float64Array(across * down), new Float64Array(across * down)];
  for (let j = 0; j <= down; j += 1) {
    for (let i = 0; i <= across; i += 1) {
      const [column, row] = [Math.min(lastColumn, i * step), Math.min(lastRow, j * step)];
      xs[j * (across + 1) + i] = column + 0.5;
      ys[j * (across + 1) + i] = row + 0.5;
      if (i < across && j < down) {
        centreX[j * across + i] = (column + Math.min(lastColumn, column + step) + 1) / 2;
        centreY[j * across + i] = (row + Math.min(lastRow, row + step) + 1) / 2;
      }
    }
  }
  mapping(xs, ys);
  mapping(centreX, centreY);
  for (let j = 0; j < down; j += 1) {
    for (let i = 0; i < across; i += 1) {
      const at = j * (across + 1) + i;
      const below = at + across + 1;
      const x = (xs[at]! + xs[at + 1]! + xs[below]! + xs[below + 1]!) / 4;
      const y = (ys[at]! + ys[at + 1]! + ys[below]! + ys[below + 1]!) / 4;
      const error = Math.max(Math.abs(x - centreX[j * across + i]!), Math.abs(y - centreY[j * across + i]!));
      const isNowhere = Number.isNaN(x) && Number.isNaN(centreX[j * across + i]!);
      // A cell at the edge of what can be transformed has some corners only.
      const cell = Math.max(Math.abs(xs[at + 1]! - xs[at]!), Math.abs(ys[below]! - ys[at]!)) / step;
      if (!(error <= MAX_ERROR_PIXELS * Math.max(1, cell)) && !isNowhere) {
        return undefined;
      }
    }
  }
  return { step, across, down, lastColumn, lastRow, xs, ys };
}

function createInterpolated(nodes: Nodes): PixelMap {
  return {
    ...scaleOfNodes(nodes),
    findPart: (within, raster) => findPartByCells(nodes, within, raster),
    boundsOf: (part) => {
      const extent = createExtent();
      forEachRun(nodes, part, FULL_IMAGE, (_at, count, x, y, stepX, stepY) => {
        extent.add(x, y);
        extent.add(x + stepX * (count - 1), y + stepY * (count - 1));
      });
      return extent.get();
    },
    toPoints: (part, transform) => {
      const columns = new Float64Array(part.width * part.height);
      const rows = new Float64Array(part.width * part.height);
      forEachRun(nodes, part, transform, (at, count, x, y, stepX, stepY) => {
        for (let u = 0; u < count; u += 1) {
          columns[at + u] = x + stepX * u;
          rows[at + u] = y + stepY * u;
        }
      });
      return { columns, rows };
    },
    toIndex: (part, window, { width, height, columns, shiftX, shiftY }) => {
      const index = takeIndex(part.width * part.height);
      const [maskX, maskY, shift] = [(1 << shiftX) - 1, (1 << shiftY) - 1, shiftX + shiftY];
      forEachRun(nodes, part, window, (at, count, x, y, stepX, stepY) => {
        for (let u = 0; u < count; u += 1) {
          const column = x + stepX * u;
          const row = y + stepY * u;
          // NaN is in no range; what is at least 0 is cut to its whole part.
          if (column >= 0 && column < width && row >= 0 && row < height) {
            const [c, r] = [column | 0, row | 0];
            index[at + u] =
              (((r >> shiftY) * columns + (c >> shiftX)) << shift) | ((r & maskY) << shiftX) | (c & maskX);
          } else {
            index[at + u] = -1;
          }
        }
      });
      return index;
    },
  };
}

function scaleOfNodes({ step, across, down, lastColumn, lastRow, xs, ys }: Nodes): { scaleX: number; scaleY: number } {
  const [scalesX, scalesY]: [number[], number[]] = [[], []];
  for (let j = 0; j < down; j += 1) {
    for (let i = 0; i < across; i += 1) {
      const at = j * (across + 1) + i;
      const below = at + across + 1;
      const cellWidth = Math.min(lastColumn, (i + 1) * step) - i * step;
      const cellHeight = Math.min(lastRow, (j + 1) * step) - j * step;
      const x = Math.hypot((xs[at + 1]! - xs[at]!) / cellWidth, (xs[below]! - xs[at]!) / cellHeight);
      const y = Math.hypot((ys[at + 1]! - ys[at]!) / cellWidth, (ys[below]! - ys[at]!) / cellHeight);
      if (x > 0 && y > 0) {
        scalesX.push(x);
        scalesY.push(y);
      }
    }
  }
  return { scaleX: median(scalesX), scaleY: median(scalesY) };
}

type Run = (at: number, count: number, x: number, y: number, stepX: number, stepY: number) => void;

/** Pixels of one row within one cell: the point of the first one, and how far apart they are. */
function forEachRun(
  { step, across, down, lastColumn, lastRow, xs, ys }: Nodes,
  part: Part,
  { ratioX, ratioY, originX, originY, every }: WindowTransform,
  run: Run,
): void {
  const [factorX, factorY] = [ratioX / every, ratioY / every];
  const [shiftX, shiftY] = [originX / every, originY / every];
  const [right, bottom] = [part.x + part.width, part.y + part.height];
  for (let row = part.y; row < bottom; row += 1) {
    const j = Math.min(down - 1, Math.floor(row / step));
    const v = (row - j * step) / (Math.min(lastRow, (j + 1) * step) - j * step);
    for (let column = part.x; column < right;) {
      const i = Math.min(across - 1, Math.floor(column / step));
      const cellWidth = Math.min(lastColumn, (i + 1) * step) - i * step;
      const at = j * (across + 1) + i;
      const below = at + across + 1;
      const leftX = xs[at]! * (1 - v) + xs[below]! * v;
      const leftY = ys[at]! * (1 - v) + ys[below]! * v;
      const stepX = (xs[at + 1]! * (1 - v) + xs[below + 1]! * v - leftX) / cellWidth;
      const stepY = (ys[at + 1]! * (1 - v) + ys[below + 1]! * v - leftY) / cellWidth;
      const u = column - i * step;
      const count = (i === across - 1 ? right : Math.min(right, (i + 1) * step)) - column;
      run(
        (row - part.y) * part.width + column - part.x,
        count,
        (leftX + stepX * u) * factorX - shiftX,
        (leftY + stepY * u) * factorY - shiftY,
        stepX * factorX,
        stepY * factorY,
      );
      column += count;
    }
  }
}

/** Each point for itself: around poles and at the edges of projections. */
function createExact({ width, height }: Grid, mapping: Mapping): PixelMap {
  const all = { columns: new Float64Array(width * height), rows: new Float64Array(width * height) };
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      all.columns[row * width + column] = column + 0.5;
      all.rows[row * width + column] = row + 0.5;
    }
  }
  mapping(all.columns, all.rows);
  const toPoints: PixelMap["toPoints"] = (part, { ratioX, ratioY, originX, originY, every }) => {
    const columns = new Float64Array(part.width * part.height);
    const rows = new Float64Array(part.width * part.height);
    for (let row = 0, to = 0; row < part.height; row += 1) {
      for (let from = (part.y + row) * width + part.x, end = from + part.width; from < end; from += 1, to += 1) {
        columns[to] = (all.columns[from]! * ratioX - originX) / every;
        rows[to] = (all.rows[from]! * ratioY - originY) / every;
      }
    }
    return { columns, rows };
  };
  return {
    findPart: (within, raster) => {
      const extent = createExtent();
      for (let row = within.y; row < within.y + within.height; row += 1) {
        for (let column = within.x; column < within.x + within.width; column += 1) {
          const [x, y] = [all.columns[row * width + column]!, all.rows[row * width + column]!];
          if (x >= 0 && x < raster.width && y >= 0 && y < raster.height) {
            extent.add(column, row);
          }
        }
      }
      return toPart(extent.get());
    },
    boundsOf: (part) => {
      const extent = createExtent();
      for (let row = part.y; row < part.y + part.height; row += 1) {
        for (let at = row * width + part.x, end = at + part.width; at < end; at += 1) {
          extent.add(all.columns[at]!, all.rows[at]!);
        }
      }
      return extent.get();
    },
    ...toScale(all.columns, all.rows, width, height),
    toPoints,
    toIndex: (part, window, { width: limitX, height: limitY, columns: across, shiftX, shiftY }) => {
      const { columns, rows } = toPoints(part, window);
      const index = takeIndex(columns.length);
      for (let at = 0; at < index.length; at += 1) {
        const [x, y] = [columns[at]!, rows[at]!];
        const [c, r] = [x | 0, y | 0];
        index[at] =
          x >= 0 && x < limitX && y >= 0 && y < limitY
            ? (((r >> shiftY) * across + (c >> shiftX)) << (shiftX + shiftY)) |
              ((r & ((1 << shiftY) - 1)) << shiftX) |
              (c & ((1 << shiftX) - 1))
            : -1;
      }
      return index;
    },
  };
}

const MAX_KEPT_INDEX = 4 * 1024 * 1024;
let kept = new Int32Array(0);

/** Memory for one calculation in this thread; what it held before is overwritten by the next call. */
function takeIndex(length: number): Int32Array {
  if (length > MAX_KEPT_INDEX) {
    return new Int32Array(length);
  }
  if (kept.length < length) {
    kept = new Int32Array(length);
  }
  return kept.subarray(0, length);
}

/** Numbers of the source's pixels that points fall on, -1 outside. */
export function toNearestIndex(columns: Float64Array, rows: Float64Array, width: number, height: number): Int32Array {
  const index = new Int32Array(columns.length);
  for (let at = 0; at < index.length; at += 1) {
    const column = columns[at]!;
    const row = rows[at]!;
    index[at] = column >= 0 && column < width && row >= 0 && row < height ? (row | 0) * width + (column | 0) : -1;
  }
  return index;
}

/** Cells whose corners lie around something of the raster. */
function findPartByCells(
  { step, across, down, lastColumn, lastRow, xs, ys }: Nodes,
  within: Part,
  { width, height }: WindowSize,
): Part | undefined {
  const extent = createExtent();
  for (let j = 0; j < down; j += 1) {
    for (let i = 0; i < across; i += 1) {
      const at = j * (across + 1) + i;
      const corners = [at, at + 1, at + across + 1, at + across + 2];
      const cellX = corners.map((corner) => xs[corner]!);
      const cellY = corners.map((corner) => ys[corner]!);
      // Corners that are nowhere compare as false.
      if (
        Math.max(...cellX) >= 0 &&
        Math.min(...cellX) < width &&
        Math.max(...cellY) >= 0 &&
        Math.min(...cellY) < height
      ) {
        extent.add(i * step, j * step);
        extent.add(Math.min(lastColumn, (i + 1) * step), Math.min(lastRow, (j + 1) * step));
      }
    }
  }
  const found = toPart(extent.get());
  return found && intersectParts(found, within);
}

export function intersectParts(a: Part, b: Part): Part | undefined {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

const toPart = (bounds: Bounds | undefined): Part | undefined =>
  bounds && {
    x: bounds.minColumn,
    y: bounds.minRow,
    width: bounds.maxColumn - bounds.minColumn + 1,
    height: bounds.maxRow - bounds.minRow + 1,
  };

function createExtent(): { readonly add: (x: number, y: number) => void; readonly get: () => Bounds | undefined } {
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

/** Median over a few places, so that neither edges nor jumps of longitude count. */
function toScale(
  columns: Float64Array,
  rows: Float64Array,
  width: number,
  height: number,
): { scaleX: number; scaleY: number } {
  const [xs, ys]: [number[], number[]] = [[], []];
  const [stepX, stepY] = [Math.max(1, Math.floor(width / 8)), Math.max(1, Math.floor(height / 8))];
  for (let row = 0; row < height; row += stepY) {
    for (let column = 0; column < width; column += stepX) {
      const at = row * width + column;
      const right = column + 1 < width ? at + 1 : column > 0 ? at - 1 : at;
      const below = row + 1 < height ? at + width : row > 0 ? at - width : at;
      const x = Math.hypot(columns[right]! - columns[at]!, columns[below]! - columns[at]!);
      const y = Math.hypot(rows[right]! - rows[at]!, rows[below]! - rows[at]!);
      if (x > 0 && y > 0) {
        xs.push(x);
        ys.push(y);
      }
    }
  }
  return { scaleX: median(xs), scaleY: median(ys) };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1;
}
