import { OWN_MEMORY } from "../memory.ts";
import type { Nodes } from "./find-nodes.ts";
import {
  type BlockIndex,
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

const FULL_IMAGE: WindowTransform = { ratioX: 1, ratioY: 1, originX: 0, originY: 0, every: 1 };

export function createInterpolated(nodes: Nodes): PixelMap {
  return {
    ...scaleOfNodes(nodes),
    findPart: (within, raster) => findPartByCells(nodes, within, raster),
    boundsOf: (part) => {
      const runs = findRuns(nodes, part, FULL_IMAGE);
      const extent = createExtent();
      for (let at = 0; at < runs.length; at += RUN) {
        const last = runs[at + 1]! - 1;
        extent.add(runs[at + 2]!, runs[at + 3]!);
        extent.add(runs[at + 2]! + runs[at + 4]! * last, runs[at + 3]! + runs[at + 5]! * last);
      }
      return extent.get();
    },
    toPoints: (part, transform, memory = OWN_MEMORY) => {
      const columns = memory.take("float64", part.width * part.height);
      const rows = memory.take("float64", part.width * part.height);
      const runs = findRuns(nodes, part, transform);
      for (let run = 0; run < runs.length; run += RUN) {
        const at = runs[run]! | 0;
        const count = runs[run + 1]! | 0;
        const x = runs[run + 2]!;
        const y = runs[run + 3]!;
        const stepX = runs[run + 4]!;
        const stepY = runs[run + 5]!;
        for (let u = 0; u < count; u += 1) {
          columns[at + u] = x + stepX * u;
          rows[at + u] = y + stepY * u;
        }
      }
      return { columns, rows };
    },
    toIndex: (part, window, blocks) => {
      const index = takeIndex(part.width * part.height);
      writeIndex(index, findRuns(nodes, part, window), blocks);
      return index;
    },
  };
}

/** No arrays to take apart in here, nor in other loops over pixels: they are not always optimised away. */
function writeIndex(
  index: Int32Array,
  runs: Float64Array,
  { width, height, columns, shiftX, shiftY }: BlockIndex,
): void {
  const [maskX, maskY, shift] = [(1 << shiftX) - 1, (1 << shiftY) - 1, shiftX + shiftY];
  for (let run = 0; run < runs.length; run += RUN) {
    const at = runs[run]! | 0;
    const count = runs[run + 1]! | 0;
    const x = runs[run + 2]!;
    const y = runs[run + 3]!;
    const stepX = runs[run + 4]!;
    const stepY = runs[run + 5]!;
    const lastX = x + stepX * (count - 1);
    const lastY = y + stepY * (count - 1);
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
      continue;
    }
    for (let u = 0; u < count; u += 1) {
      const column = x + stepX * u;
      const row = y + stepY * u;
      if (isInside || (column >= 0 && column < width && row >= 0 && row < height)) {
        const c = column | 0;
        const r = row | 0;
        index[at + u] = (((r >> shiftY) * columns + (c >> shiftX)) << shift) | ((r & maskY) << shiftX) | (c & maskX);
      } else {
        index[at + u] = -1;
      }
    }
  }
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

/** Numbers of a run: its first pixel in the part, how many it has, the point of the first one, and how far apart they are. */
const RUN = 6;
const MAX_KEPT_RUNS = 128 * 1024;

let kept = new Float64Array(0);

/** Pixels of one row within one cell: their points are on a line. Valid until the next call. */
function findRuns(
  { step, across, down, lastColumn, lastRow, xs, ys }: Nodes,
  part: Part,
  { ratioX, ratioY, originX, originY, every }: WindowTransform,
): Float64Array {
  const [factorX, factorY] = [ratioX / every, ratioY / every];
  const [shiftX, shiftY] = [originX / every, originY / every];
  const [right, bottom] = [part.x + part.width, part.y + part.height];
  const most = part.height * (Math.ceil(part.width / step) + 1) * RUN;
  const runs =
    most > MAX_KEPT_RUNS ? new Float64Array(most) : kept.length < most ? (kept = new Float64Array(most)) : kept;
  let to = 0;
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
      runs[to] = (row - part.y) * part.width + column - part.x;
      runs[to + 1] = count;
      runs[to + 2] = (leftX + stepX * u) * factorX - shiftX;
      runs[to + 3] = (leftY + stepY * u) * factorY - shiftY;
      runs[to + 4] = stepX * factorX;
      runs[to + 5] = stepY * factorY;
      to += RUN;
      column += count;
    }
  }
  return runs.subarray(0, to);
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
      const below = at + across + 1;
      // Corners that are nowhere compare as false.
      if (
        Math.max(xs[at]!, xs[at + 1]!, xs[below]!, xs[below + 1]!) >= 0 &&
        Math.min(xs[at]!, xs[at + 1]!, xs[below]!, xs[below + 1]!) < width &&
        Math.max(ys[at]!, ys[at + 1]!, ys[below]!, ys[below + 1]!) >= 0 &&
        Math.min(ys[at]!, ys[at + 1]!, ys[below]!, ys[below + 1]!) < height
      ) {
        extent.add(i * step, j * step);
        extent.add(Math.min(lastColumn, (i + 1) * step), Math.min(lastRow, (j + 1) * step));
      }
    }
  }
  const found = toPart(extent.get());
  return found && intersectParts(found, within);
}
