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
  readonly columns: Float64Array;
  readonly rows: Float64Array;
  /** Extent of all points. */
  readonly bounds:
    | { readonly minColumn: number; readonly minRow: number; readonly maxColumn: number; readonly maxRow: number }
    | undefined;
  /** Source pixels a target pixel covers, in each direction of the source. */
  readonly scaleX: number;
  readonly scaleY: number;
}

type Mapping = (xs: Float64Array, ys: Float64Array) => void;

/** `origin`: longitude that the source's own degrees begin at, so that rasters of 0° to 360° and those over the antimeridian are found. */
export function createPixelMap(grid: Grid, source: Georeferencing, westernmost?: number): PixelMap {
  const { width, height } = grid;
  const mapping = createMapping(grid, source, westernmost);
  const columns = new Float64Array(width * height);
  const rows = new Float64Array(width * height);
  for (let step = INITIAL_STEP; ; step /= 2) {
    if (step < MIN_STEP) {
      fillExactly(mapping, grid, columns, rows);
      break;
    }
    if (interpolate(mapping, grid, step, columns, rows)) {
      break;
    }
  }
  return { columns, rows, bounds: toBounds(columns, rows), ...toScale(columns, rows, width, height) };
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

/** Nodes every `step` pixels, bilinear between them; false when a cell's centre shows that this is not exact enough. */
function interpolate(
  mapping: Mapping,
  { width, height }: Grid,
  step: number,
  columns: Float64Array,
  rows: Float64Array,
): boolean {
  const across = Math.max(1, Math.ceil(width / step));
  const down = Math.max(1, Math.ceil(height / step));
  const nodes = (across + 1) * (down + 1);
  const [nodeX, nodeY] = [new Float64Array(nodes), new Float64Array(nodes)];
  const [centreX, centreY] = [new Float64Array(across * down), new Float64Array(across * down)];
  for (let j = 0; j <= down; j += 1) {
    for (let i = 0; i <= across; i += 1) {
      nodeX[j * (across + 1) + i] = i * step;
      nodeY[j * (across + 1) + i] = j * step;
      if (i < across && j < down) {
        centreX[j * across + i] = (i + 0.5) * step;
        centreY[j * across + i] = (j + 0.5) * step;
      }
    }
  }
  mapping(nodeX, nodeY);
  mapping(centreX, centreY);
  for (let j = 0; j < down; j += 1) {
    for (let i = 0; i < across; i += 1) {
      const at = j * (across + 1) + i;
      const below = at + across + 1;
      const x = (nodeX[at]! + nodeX[at + 1]! + nodeX[below]! + nodeX[below + 1]!) / 4;
      const y = (nodeY[at]! + nodeY[at + 1]! + nodeY[below]! + nodeY[below + 1]!) / 4;
      const error = Math.max(Math.abs(x - centreX[j * across + i]!), Math.abs(y - centreY[j * across + i]!));
      const isNowhere = Number.isNaN(x) && Number.isNaN(centreX[j * across + i]!);
      // A cell at the edge of what can be transformed has some corners only.
      const cell = Math.max(Math.abs(nodeX[at + 1]! - nodeX[at]!), Math.abs(nodeY[below]! - nodeY[at]!)) / step;
      if (!(error <= MAX_ERROR_PIXELS * Math.max(1, cell)) && !isNowhere) {
        return false;
      }
    }
  }
  for (let j = 0; j < down; j += 1) {
    const lastRow = Math.min(height, (j + 1) * step);
    for (let row = j * step; row < lastRow; row += 1) {
      const v = (row + 0.5) / step - j;
      for (let i = 0; i < across; i += 1) {
        const at = j * (across + 1) + i;
        const below = at + across + 1;
        const leftX = nodeX[at]! * (1 - v) + nodeX[below]! * v;
        const leftY = nodeY[at]! * (1 - v) + nodeY[below]! * v;
        const stepX = (nodeX[at + 1]! * (1 - v) + nodeX[below + 1]! * v - leftX) / step;
        const stepY = (nodeY[at + 1]! * (1 - v) + nodeY[below + 1]! * v - leftY) / step;
        const last = Math.min(width, (i + 1) * step);
        for (let column = i * step; column < last; column += 1) {
          const u = column + 0.5 - i * step;
          columns[row * width + column] = leftX + stepX * u;
          rows[row * width + column] = leftY + stepY * u;
        }
      }
    }
  }
  return true;
}

function fillExactly(mapping: Mapping, { width, height }: Grid, columns: Float64Array, rows: Float64Array): void {
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      columns[row * width + column] = column + 0.5;
      rows[row * width + column] = row + 0.5;
    }
  }
  mapping(columns, rows);
}

function toBounds(columns: Float64Array, rows: Float64Array): PixelMap["bounds"] {
  let [minColumn, minRow, maxColumn, maxRow] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < columns.length; at += 1) {
    const [column, row] = [columns[at]!, rows[at]!];
    // Comparisons with NaN are false.
    if (column < minColumn) {
      minColumn = column;
    }
    if (column > maxColumn) {
      maxColumn = column;
    }
    if (row < minRow) {
      minRow = row;
    }
    if (row > maxRow) {
      maxRow = row;
    }
  }
  return minColumn <= maxColumn && minRow <= maxRow ? { minColumn, minRow, maxColumn, maxRow } : undefined;
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
