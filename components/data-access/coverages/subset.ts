import { type Bbox, type Crs, type Grid, parseCrs, reprojectBbox } from "@swath/raster";

import type { TimeRange } from "../layers/layer.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { CoverageError } from "./coverage-error.ts";

export type Axis = "x" | "y" | "time";

/** A part of an axis: both ends, or one value. */
export interface AxisSubset {
  readonly axis: Axis;
  readonly low: string | undefined;
  readonly high: string | undefined;
  readonly isSlice: boolean;
}

export interface Scaling {
  readonly factor?: number;
  readonly width?: number;
  readonly height?: number;
  readonly factorX?: number;
  readonly factorY?: number;
}

/** Names that clients and standards have for the axes. */
const AXES: ReadonlyMap<string, Axis> = new Map(
  Object.entries<Axis>({
    x: "x",
    e: "x",
    easting: "x",
    lon: "x",
    long: "x",
    longitude: "x",
    i: "x",
    y: "y",
    n: "y",
    northing: "y",
    lat: "y",
    latitude: "y",
    j: "y",
    t: "time",
    time: "time",
    ansi: "time",
    datetime: "time",
    phenomenontime: "time",
  }),
);
const MAX_PIXELS = 2 ** 26;

export function parseAxis(name: string): Axis {
  const axis = AXES.get(name.trim().toLowerCase());
  if (axis === undefined) {
    throw new CoverageError(
      "InvalidAxisLabel",
      `There is no axis "${name.slice(0, 40)}"; use Lat, Long, E, N, x, y or time.`,
    );
  }
  return axis;
}

/** `Lat(46.3,46.4)`, `time("2023-08-20")`, `x(*,100)`. @throws {CoverageError} `InvalidAxisLabel`, `InvalidSubsetting` */
export function parseSubset(text: string): AxisSubset {
  const [, name = "", body] = /^\s*([^(),]+?)\s*(?:,[^(]*)?\(([^()]*)\)\s*$/.exec(text) ?? [];
  if (body === undefined) {
    throw new CoverageError(
      "InvalidSubsetting",
      `The subset "${text.slice(0, 60)}" must have the form axis(low,high).`,
    );
  }
  const ends = (
    body.includes(",") ? body.split(",") : body.includes('":"') ? body.split(/(?<="):(?=")/) : splitColon(body)
  )
    .map((end) => end.trim().replace(/^"|"$/g, ""))
    .map((end) => (end === "*" || end === ".." || end === "" ? undefined : end));
  if (ends.length > 2) {
    throw new CoverageError("InvalidSubsetting", `The subset "${text.slice(0, 60)}" must have one or two ends.`);
  }
  return {
    axis: parseAxis(name),
    low: ends[0],
    high: ends.length === 2 ? ends[1] : ends[0],
    isSlice: ends.length === 1,
  };
}

/** OGC API has a colon between numbers, WCS a comma. */
const splitColon = (body: string): readonly string[] =>
  /^[-+\d.e*]+:[-+\d.e*]+$/i.test(body) ? body.split(":") : [body];

/** Times of the subsets. */
export function timesOf(subsets: readonly AxisSubset[]): readonly TimeRange[] | undefined {
  const time = subsets.find(({ axis }) => axis === "time");
  return time === undefined
    ? undefined
    : parseTimes(time.isSlice ? time.low : `${time.low ?? ".."}/${time.high ?? ".."}`);
}

/** Pixels that files have in their own system. */
export interface NativePixels {
  readonly crs: Crs;
  /** Width and height of one. */
  readonly size: readonly [number, number];
  /** A corner of one. */
  readonly corner: readonly [number, number];
}

interface GridOptions {
  readonly pixels?: NativePixels | undefined;
  readonly subsets: readonly AxisSubset[];
  readonly subsetCrs: Crs;
  readonly outputCrs: Crs;
  readonly scaling: Scaling;
}

/**
 * The pixels of a part of a coverage. In its own system and size they are pixels of the coverage itself.
 * @throws {CoverageError} `InvalidAxisLabel`, `InvalidSubsetting`, `InvalidScaleFactor`, `OutputCrs-NotSupported`
 */
export function toCoverageGrid(grid: Grid, { subsets, subsetCrs, outputCrs, scaling, pixels }: GridOptions): Grid {
  const twice = subsets.find(({ axis }, at) => subsets.findIndex((each) => each.axis === axis) < at);
  if (twice !== undefined) {
    throw new CoverageError("InvalidAxisLabel", `The axis ${twice.axis} may have one subset only.`);
  }
  const area = reprojectBbox(grid.bbox, grid.crs, subsetCrs);
  if (area === undefined) {
    throw new CoverageError("SubsettingCrs-NotSupported", "The coverage cannot be shown in the system of the subset.");
  }
  const [minX, maxX] = cut(subsets, "x", [area[0], area[2]]);
  const [minY, maxY] = cut(subsets, "y", [area[1], area[3]]);
  const isWhole = subsets.every(({ axis }) => axis === "time");
  const native = isWhole ? grid.bbox : reprojectBbox([minX, minY, maxX, maxY], subsetCrs, grid.crs);
  if (native === undefined) {
    throw new CoverageError("InvalidSubsetting", "The subset is outside of the coverage.");
  }
  const part = snap(grid, native);
  if (part === undefined) {
    throw new CoverageError("InvalidSubsetting", "The subset is outside of the coverage.");
  }
  const [width, height] = scaled(part, scaling);
  if (outputCrs.id === grid.crs.id) {
    return checkSize({ ...part, width, height });
  }
  const bbox =
    subsetCrs.id === outputCrs.id && !isWhole
      ? ([minX, minY, maxX, maxY] as const)
      : reprojectBbox(part.bbox, part.crs, outputCrs);
  if (bbox === undefined) {
    throw new CoverageError("OutputCrs-NotSupported", "The coverage cannot be shown in the output system.");
  }
  if (pixels?.crs.id === outputCrs.id && scaling.width === undefined && scaling.height === undefined) {
    const aligned = alignBox(bbox, pixels);
    const [columns, rows] = scaled(aligned, scaling);
    return checkSize({ ...aligned, width: columns, height: rows });
  }
  return checkSize({ crs: outputCrs, bbox, ...keepDiagonal(bbox, width, height, scaling) });
}

/** The whole pixels of the files around a box: none is resampled. */
function alignBox(bbox: Bbox, { crs, size, corner }: NativePixels): Grid {
  // Ends that are on an edge, but for the last digits, are that edge.
  const edge = 1e-6;
  const [left, bottom, right, top] = bbox.map((value, at) => {
    const steps = (value - corner[at % 2]!) / size[at % 2]!;
    return at < 2 ? Math.floor(steps + edge) : Math.ceil(steps - edge);
  }) as unknown as Bbox;
  return {
    crs,
    bbox: [
      corner[0] + left * size[0],
      corner[1] + bottom * size[1],
      corner[0] + right * size[0],
      corner[1] + top * size[1],
    ],
    width: Math.max(1, right - left),
    height: Math.max(1, top - bottom),
  };
}

/** Sizes that were asked for stay; others keep the number of pixels along the diagonal. */
function keepDiagonal([minX, minY, maxX, maxY]: Bbox, width: number, height: number, { width: w, height: h }: Scaling) {
  if (w !== undefined && h !== undefined) {
    return { width, height };
  }
  const size = Math.hypot(maxX - minX, maxY - minY) / Math.hypot(width, height);
  return {
    width: Math.max(1, Math.round((maxX - minX) / size)),
    height: Math.max(1, Math.round((maxY - minY) / size)),
  };
}

function cut(
  subsets: readonly AxisSubset[],
  axis: Axis,
  [least, greatest]: readonly [number, number],
): readonly [number, number] {
  const subset = subsets.find((each) => each.axis === axis);
  const read = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Number(text));
  const [low, high] = [read(subset?.low, least), read(subset?.high, greatest)];
  if (Number.isNaN(low) || Number.isNaN(high) || low > high) {
    throw new CoverageError("InvalidSubsetting", "The ends of a subset must be numbers, the lower one first.");
  }
  if (low > greatest || high < least) {
    throw new CoverageError(
      "InvalidSubsetting",
      `The subset is outside of the coverage, which has ${least} to ${greatest} there.`,
    );
  }
  const tiny = (greatest - least) * 1e-9;
  return subset?.isSlice === true ? [low - tiny, high + tiny] : [Math.max(low, least), Math.min(high, greatest)];
}

/** Whole pixels of a grid that hold a box. */
function snap({ crs, bbox, width, height }: Grid, part: Bbox): Grid | undefined {
  const [x, y] = [(bbox[2] - bbox[0]) / width, (bbox[3] - bbox[1]) / height];
  // Ends that are on an edge, but for the last digits, are that edge.
  const edge = 1e-6;
  const left = Math.max(0, Math.floor((part[0] - bbox[0]) / x + edge));
  const right = Math.min(width, Math.ceil((part[2] - bbox[0]) / x - edge));
  const top = Math.max(0, Math.floor((bbox[3] - part[3]) / y + edge));
  const bottom = Math.min(height, Math.ceil((bbox[3] - part[1]) / y - edge));
  const [columns, rows] = [Math.max(1, right - left), Math.max(1, bottom - top)];
  return left >= width || top >= height || right <= 0 || bottom <= 0
    ? undefined
    : {
        crs,
        bbox: [bbox[0] + left * x, bbox[3] - (top + rows) * y, bbox[0] + (left + columns) * x, bbox[3] - top * y],
        width: columns,
        height: rows,
      };
}

function scaled({ width, height }: Grid, scaling: Scaling): readonly [number, number] {
  const { factor = 1, factorX = factor, factorY = factor } = scaling;
  if (![factorX, factorY].every((each) => Number.isFinite(each) && each > 0)) {
    throw new CoverageError("InvalidScaleFactor", "A scale factor must be a number above zero.");
  }
  const wide = scaling.width ?? (scaling.height === undefined ? undefined : (scaling.height * width) / height);
  const high = scaling.height ?? (scaling.width === undefined ? undefined : (scaling.width * height) / width);
  return [Math.max(1, Math.round(wide ?? width * factorX)), Math.max(1, Math.round(high ?? height * factorY))];
}

function checkSize(grid: Grid): Grid {
  if (grid.width * grid.height > MAX_PIXELS || grid.width > 65_535 || grid.height > 65_535) {
    throw new CoverageError(
      "InvalidSubsetting",
      `${grid.width} × ${grid.height} pixels are more than the ${MAX_PIXELS} allowed; ask for a smaller area or scale it down.`,
    );
  }
  return grid;
}

export const MAX_COVERAGE_PIXELS = MAX_PIXELS;
/** @throws {CoverageError} `code` for systems that nobody knows */
export function requireCrs(text: string, code: string): Crs {
  try {
    return parseCrs(text);
  } catch (cause) {
    throw new CoverageError(code, "The coordinate reference system is not known.", { cause });
  }
}
