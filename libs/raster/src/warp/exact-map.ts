import { OWN_MEMORY } from "../memory.ts";
import type { Grid } from "./grid.ts";
import { type Mapping, type PixelMap, createExtent, median, takeIndex, toPart } from "./map-parts.ts";

/** Each point for itself: around poles and at the edges of projections. */
export function createExact({ width, height }: Grid, mapping: Mapping): PixelMap {
  const all = { columns: new Float64Array(width * height), rows: new Float64Array(width * height) };
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      all.columns[row * width + column] = column + 0.5;
      all.rows[row * width + column] = row + 0.5;
    }
  }
  mapping(all.columns, all.rows);
  const toPoints: PixelMap["toPoints"] = (part, { ratioX, ratioY, originX, originY, every }, memory = OWN_MEMORY) => {
    const columns = memory.take("float64", part.width * part.height);
    const rows = memory.take("float64", part.width * part.height);
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
