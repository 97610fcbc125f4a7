import type { Grid } from "./grid.ts";
import type { Mapping } from "./map-parts.ts";

/** How far an interpolated point may be off, in source pixels or, where those are smaller, target pixels. */
const MAX_ERROR_PIXELS = 0.001;
/** The part of it that a curve through exact points may have; straight lines between points of the curve have the rest. */
const CURVE_SHARE = 0.25;

/** Distances of exactly transformed points, in pixels of the grid. */
const INITIAL_STEP = 64;
const MIN_STEP = 8;

/** Centres of pixels, `step` apart, between which points are on straight lines; the last ones may be nearer to those before them. */
export interface Nodes {
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

/** `undefined` where no interpolation is exact enough: around poles, at jumps of longitude and at the edges of projections. */
export function findNodes(mapping: Mapping, grid: Grid): Nodes | undefined {
  for (let step = INITIAL_STEP; ;) {
    const points = transformPoints(mapping, grid, step);
    const straight = findStraightError(points);
    if (straight <= 1) {
      return toNodes(points, step);
    }
    if (Number.isNaN(straight)) {
      return undefined;
    }
    const curved = findCurvedError(mapping, points) / CURVE_SHARE;
    if (curved <= 1) {
      // Half the distance has a quarter of the error; between neighbouring pixels is nothing.
      return toNodes(points, Math.max(1, step / 2 ** Math.ceil(Math.log2(straight / (1 - CURVE_SHARE)) / 2)));
    }
    if (Number.isNaN(curved) || step === MIN_STEP) {
      return undefined;
    }
    // Half the distance has an eighth of this error.
    step = Math.max(MIN_STEP, step / 2 ** Math.ceil(Math.log2(curved) / 3));
  }
}

/** Exact points: the corners of cells, which are `step` apart, with the centres of cells and of their edges between them. */
interface Points {
  readonly step: number;
  readonly lastColumn: number;
  readonly lastRow: number;
  /** Cells. */
  readonly across: number;
  readonly down: number;
  /** Points in a row: two for each cell, and one. */
  readonly stride: number;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
}

function transformPoints(mapping: Mapping, { width, height }: Grid, step: number): Points {
  // A grid of one pixel is given a neighbour, so that its scale is known.
  const [lastColumn, lastRow] = [Math.max(1, width - 1), Math.max(1, height - 1)];
  const [across, down] = [Math.ceil(lastColumn / step), Math.ceil(lastRow / step)];
  const [stride, rows] = [2 * across + 1, 2 * down + 1];
  const [xs, ys] = [new Float64Array(stride * rows), new Float64Array(stride * rows)];
  const toPixel = (at: number, last: number) =>
    (Math.min(last, (at >> 1) * step) + Math.min(last, ((at + 1) >> 1) * step) + 1) / 2;
  for (let j = 0; j < rows; j += 1) {
    for (let i = 0; i < stride; i += 1) {
      xs[j * stride + i] = toPixel(i, lastColumn);
      ys[j * stride + i] = toPixel(j, lastRow);
    }
  }
  mapping(xs, ys);
  return { step, lastColumn, lastRow, across, down, stride, xs, ys };
}

/**
 * The greatest error of straight lines between corners, as a multiple of the allowed one; NaN where some points are nowhere and others
 * are not. The centres of cells alone would show nothing between conformal projections: those bend rows and columns in opposite
 * directions, and both errors cancel there.
 */
function findStraightError({ step, down, stride, xs, ys }: Points): number {
  let error = 0;
  for (let j = 0; j <= 2 * down; j += 1) {
    const above = (j & 1) * stride;
    for (let i = 1 - (j & 1); i < stride; i += 2 - (j & 1)) {
      const at = j * stride + i;
      const beside = i & 1;
      const [a, b, c, d] = [at - above - beside, at - above + beside, at + above - beside, at + above + beside];
      const x = (xs[a]! + xs[b]! + xs[c]! + xs[d]!) / 4;
      const y = (ys[a]! + ys[b]! + ys[c]! + ys[d]!) / 4;
      if (![a, b, c, d, at].every((point) => Number.isNaN(xs[point]!))) {
        const pixel = Math.max(Math.abs(xs[d]! - xs[a]!), Math.abs(ys[d]! - ys[a]!)) / step;
        error = Math.max(error, toShare(x - xs[at]!, y - ys[at]!, pixel));
      }
    }
  }
  return error;
}

/** As above, of parabolas through the three points of each edge of a cell: a quarter along it they are farthest from other curves. */
function findCurvedError(mapping: Mapping, points: Points): number {
  const { step, lastColumn, lastRow, across, down, stride, xs, ys } = points;
  const count = across * (down + 1) + (across + 1) * down;
  const [columns, rows, pixels] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  let to = 0;
  for (let j = 0; j <= down; j += 1) {
    for (let i = 0; i <= across; i += 1) {
      const from = 2 * (j * stride + i);
      const [column, row] = [Math.min(lastColumn, i * step), Math.min(lastRow, j * step)];
      for (const [right, below] of [[1, 0] as const, [0, 1] as const]) {
        if (i + right <= across && j + below <= down) {
          const end = from + 2 * (right + below * stride);
          columns[to] = 0.5 + column + (right * (Math.min(lastColumn, column + step) - column)) / 4;
          rows[to] = 0.5 + row + (below * (Math.min(lastRow, row + step) - row)) / 4;
          pixels[to] = Math.max(Math.abs(xs[end]! - xs[from]!), Math.abs(ys[end]! - ys[from]!)) / step;
          to += 1;
        }
      }
    }
  }
  const [curveXs, curveYs] = [columns.slice(), rows.slice()];
  mapping(columns, rows);
  toCurve(points, curveXs, curveYs);
  return columns.reduce(
    (error, x, at) => Math.max(error, toShare(x - curveXs[at]!, rows[at]! - curveYs[at]!, pixels[at]!)),
    0,
  );
}

/** `pixel`: source pixels that a target pixel is wide. */
const toShare = (x: number, y: number, pixel: number): number =>
  Math.max(Math.abs(x), Math.abs(y)) / (MAX_ERROR_PIXELS * Math.max(1, pixel));

/** In place, as `Mapping`: by parabolas through the points of the cell, in both directions. */
function toCurve(
  { step, lastColumn, lastRow, across, down, stride, xs, ys }: Points,
  columns: Float64Array,
  rows: Float64Array,
): void {
  for (let at = 0; at < columns.length; at += 1) {
    const [column, row] = [columns[at]! - 0.5, rows[at]! - 0.5];
    const [i, j] = [Math.min(across - 1, Math.floor(column / step)), Math.min(down - 1, Math.floor(row / step))];
    const u = (column - i * step) / (Math.min(lastColumn, (i + 1) * step) - i * step);
    const v = (row - j * step) / (Math.min(lastRow, (j + 1) * step) - j * step);
    const [u0, u1, u2] = [(1 - u) * (1 - 2 * u), 4 * u * (1 - u), u * (2 * u - 1)];
    const [v0, v1, v2] = [(1 - v) * (1 - 2 * v), 4 * v * (1 - v), v * (2 * v - 1)];
    const top = 2 * (j * stride + i);
    const [middle, bottom] = [top + stride, top + 2 * stride];
    columns[at] =
      v0 * (u0 * xs[top]! + u1 * xs[top + 1]! + u2 * xs[top + 2]!) +
      v1 * (u0 * xs[middle]! + u1 * xs[middle + 1]! + u2 * xs[middle + 2]!) +
      v2 * (u0 * xs[bottom]! + u1 * xs[bottom + 1]! + u2 * xs[bottom + 2]!);
    rows[at] =
      v0 * (u0 * ys[top]! + u1 * ys[top + 1]! + u2 * ys[top + 2]!) +
      v1 * (u0 * ys[middle]! + u1 * ys[middle + 1]! + u2 * ys[middle + 2]!) +
      v2 * (u0 * ys[bottom]! + u1 * ys[bottom + 1]! + u2 * ys[bottom + 2]!);
  }
}

function toNodes(points: Points, step: number): Nodes {
  const { lastColumn, lastRow } = points;
  const [across, down] = [Math.ceil(lastColumn / step), Math.ceil(lastRow / step)];
  const count = (across + 1) * (down + 1);
  const [xs, ys] = [new Float64Array(count), new Float64Array(count)];
  for (let j = 0, at = 0; j <= down; j += 1) {
    for (let i = 0; i <= across; i += 1, at += 1) {
      xs[at] = Math.min(lastColumn, i * step) + 0.5;
      ys[at] = Math.min(lastRow, j * step) + 0.5;
    }
  }
  toCurve(points, xs, ys);
  return { step, across, down, lastColumn, lastRow, xs, ys };
}
