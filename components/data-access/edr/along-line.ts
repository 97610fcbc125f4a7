import { type Bbox, type Crs, type Grid, type PixelsRequest, type RasterPool, compileExpression } from "@swath/raster";
import { Problem } from "@swath/service";

import type { WktGeometry } from "../http/geometry.ts";

/** Points of a line that values are read at. */
const LINE_POINTS = 500;

export type Point = readonly [x: number, y: number];

/** Values at a point of a line, one of each expression. */
export interface LineValue {
  readonly x: number;
  readonly y: number;
  readonly values: readonly (number | null)[];
}

/** @throws {Problem} where the geometry is no line */
export function requireLine({ type, parts }: WktGeometry): readonly Point[] {
  const [line = []] = parts;
  if (type !== "LINESTRING" || line.length < 2) {
    throw new Problem(400, "coords must be a LINESTRING of two points or more.");
  }
  return line;
}

/** Points at equal steps along a line. @throws {Problem} where it has no length */
export function alongLine(line: readonly Point[]): readonly Point[] {
  const lengths = line.slice(1).map(([x, y], at) => Math.hypot(x - line[at]![0], y - line[at]![1]));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (!(total > 0)) {
    throw new Problem(400, "The line must have a length.");
  }
  return Array.from({ length: LINE_POINTS }, (_, index): Point => {
    let rest = (total * index) / (LINE_POINTS - 1);
    let at = 0;
    while (at < lengths.length - 1 && rest > lengths[at]!) {
      rest -= lengths[at]!;
      at += 1;
    }
    const [[x1, y1], [x2, y2]] = [line[at]!, line[at + 1]!];
    const share = lengths[at] === 0 ? 0 : Math.min(1, rest / lengths[at]!);
    return [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
  });
}

/** The box of points, so that the outermost are inside. */
export function boundsOfPoints(points: readonly Point[], crs: Crs): Bbox {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const pad = crs.isGeographic ? 1e-6 : 0.1;
  return [Math.min(...xs) - pad, Math.min(...ys) - pad, Math.max(...xs) + pad, Math.max(...ys) + pad];
}

/** Square pixels over a box, so many along its longer side. */
export function toGrid(bbox: Bbox, crs: Crs, longest: number): Grid {
  const [wide, high] = [bbox[2] - bbox[0], bbox[3] - bbox[1]];
  const size = Math.max(wide, high) / longest;
  return {
    crs,
    bbox,
    width: Math.max(1, Math.min(longest, Math.round(wide / size))),
    height: Math.max(1, Math.min(longest, Math.round(high / size))),
  };
}

interface LineRequest extends Pick<PixelsRequest, "scenes" | "selection" | "unscale"> {
  readonly points: readonly Point[];
  readonly crs: Crs;
  readonly expressions: readonly string[];
}

/** Reads the line's box once, at about the line's own resolution, and takes the points of it. */
export async function readAlong(
  pool: RasterPool,
  { points, crs, expressions, ...request }: LineRequest,
  signal: AbortSignal,
): Promise<readonly LineValue[]> {
  if (request.scenes.length === 0) {
    // Nobody else reads them then: a wrong one is an error wherever the line is.
    expressions.forEach((expression) => compileExpression(expression));
    return points.map(([x, y]) => ({ x, y, values: expressions.map(() => null) }));
  }
  const bbox = boundsOfPoints(points, crs);
  const grid = toGrid(bbox, crs, LINE_POINTS * 2);
  const { planes } = await pool.pixels({ ...request, grid, expressions, resampling: "nearest" }, signal);
  return points.map(([x, y]) => {
    const column = Math.min(grid.width - 1, Math.floor(((x - bbox[0]) / (bbox[2] - bbox[0])) * grid.width));
    const row = Math.min(grid.height - 1, Math.floor(((bbox[3] - y) / (bbox[3] - bbox[1])) * grid.height));
    const at = row * grid.width + column;
    return {
      x,
      y,
      values: planes.map(({ samples, mask }) => {
        const value = samples[at];
        return mask[at] === 0 || value === undefined || !Number.isFinite(value) ? null : value;
      }),
    };
  });
}

/** The values as a table: place, kilometres from the beginning, a column of each name. */
export function toLineCsv(
  values: readonly LineValue[],
  kilometres: readonly number[],
  names: readonly string[],
): string {
  const lines = values.map(({ x, y, values: found }, at) =>
    [x, y, kilometres[at]!.toFixed(4), ...found.map((value) => value ?? "")].join(","),
  );
  return [`x,y,kilometres,${names.map(quote).join(",")}`, ...lines, ""].join("\r\n");
}

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
