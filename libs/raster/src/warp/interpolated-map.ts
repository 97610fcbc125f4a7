import { OWN_MEMORY } from "../memory.ts";
import type { Grid } from "./grid.ts";
import {
  type Mapping,
  type Part,
  type PixelMap,
  type WindowSize,
  type WindowTransform,
  createExtent,
  intersectParts,
  median,
  takeIndex,
  toPart,
} from "./map-parts.ts";

/** How far an interpolated point may be off, in source pixels or, where those are smaller, target pixels. */
const MAX_ERROR_PIXELS = 0.001;
const FULL_IMAGE: WindowTransform = { ratioX: 1, ratioY: 1, originX: 0, originY: 0, every: 1 };

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

/** `undefined` when the centre of a cell shows that interpolating between its corners is not exact enough. */
export function findNodes(mapping: Mapping, { width, height }: Grid, step: number): Nodes | undefined {
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

export function createInterpolated(nodes: Nodes): PixelMap {
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
    toPoints: (part, transform, memory = OWN_MEMORY) => {
      const columns = memory.take("float64", part.width * part.height);
      const rows = memory.take("float64", part.width * part.height);
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
        const [lastX, lastY] = [x + stepX * (count - 1), y + stepY * (count - 1)];
        // Runs are straight: what begins and ends inside is inside. NaN is in no range.
        const isInside =
          x >= 0 && x < width && lastX >= 0 && lastX < width && y >= 0 && y < height && lastY >= 0 && lastY < height;
        if (isInside && (y | 0) === (lastY | 0)) {
          const r = y | 0;
          const row = (((r >> shiftY) * columns) << shift) | ((r & maskY) << shiftX);
          for (let u = 0; u < count; u += 1) {
            // What is at least 0 is cut to its whole part.
            const c = (x + stepX * u) | 0;
            index[at + u] = row + (((c >> shiftX) << shift) | (c & maskX));
          }
          return;
        }
        for (let u = 0; u < count; u += 1) {
          const column = x + stepX * u;
          const row = y + stepY * u;
          if (isInside || (column >= 0 && column < width && row >= 0 && row < height)) {
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
