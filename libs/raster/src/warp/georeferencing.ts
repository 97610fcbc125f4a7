import { RasterError } from "../errors.ts";
import type { Affine, GroundControlPoint, RasterInfo } from "../readers/raster.ts";
import type { Crs } from "./crs.ts";
import { findCrs } from "./crs.ts";
import { toLocalCrs } from "./local-crs.ts";

/** In place: pixels (column, row of the full image, corners are whole) ↔ coordinates of the raster's own system. */
export interface Georeferencing {
  readonly crs: Crs;
  readonly toPixels: (xs: Float64Array, ys: Float64Array) => void;
  readonly toCoordinates: (columns: Float64Array, rows: Float64Array) => void;
}

/** Pixels of rasters without coordinates: y grows upwards, as everywhere. */
const PIXELS: Affine = [1, 0, 0, 0, -1, 0];

/**
 * Of rasters that do not say where they are, or in which system, in a system of their own.
 * @throws {RasterError} `unsupported` for systems that are not known
 */
export function createGeoreferencing(info: RasterInfo): Georeferencing {
  const { transform, gcps, crs, unknownCrs } = info;
  if (crs === undefined && unknownCrs !== undefined) {
    throw new RasterError(
      "unsupported",
      `The raster's coordinate reference system "${unknownCrs}" is not supported: EPSG and ESRI codes and common projections are.`,
    );
  }
  if (transform !== undefined && crs !== undefined) {
    return {
      crs,
      toPixels: toAffineMapping(invertAffine(transform)),
      toCoordinates: toAffineMapping(transform),
    };
  }
  if (gcps !== undefined && gcps.length >= 3) {
    return {
      // Radar scenes often leave out that their points are in degrees.
      crs: crs ?? (findCrs("EPSG:4326") as Crs),
      toPixels: fitPolynomial(
        gcps,
        ({ x, y }) => [x, y],
        ({ column, row }) => [column, row],
      ),
      toCoordinates: fitPolynomial(
        gcps,
        ({ column, row }) => [column, row],
        ({ x, y }) => [x, y],
      ),
    };
  }
  const local = transform ?? PIXELS;
  return {
    crs: toLocalCrs(info),
    toPixels: toAffineMapping(invertAffine(local)),
    toCoordinates: toAffineMapping(local),
  };
}

export function invertAffine([a, b, c, d, e, f]: Affine): Affine {
  const determinant = a * e - b * d;
  return [
    e / determinant,
    -b / determinant,
    (b * f - c * e) / determinant,
    -d / determinant,
    a / determinant,
    (c * d - a * f) / determinant,
  ];
}

function toAffineMapping([a, b, c, d, e, f]: Affine) {
  return (xs: Float64Array, ys: Float64Array): void => {
    for (let at = 0; at < xs.length; at += 1) {
      const [x, y] = [xs[at]!, ys[at]!];
      xs[at] = a * x + b * y + c;
      ys[at] = d * x + e * y + f;
    }
  };
}

type Pair = readonly [number, number];

/**
 * Least squares over the points: second order from six points on, else first order, as other software does.
 * Both directions are fitted for themselves.
 */
function fitPolynomial(
  points: readonly GroundControlPoint[],
  from: (point: GroundControlPoint) => Pair,
  to: (point: GroundControlPoint) => Pair,
): (xs: Float64Array, ys: Float64Array) => void {
  const isQuadratic = points.length >= 6;
  const inputs = points.map(from);
  // Centred and scaled, so that the normal equations stay well conditioned.
  const [scaleX, scaleY] = [toScaling(inputs.map(([x]) => x)), toScaling(inputs.map(([, y]) => y))];
  const terms = (x: number, y: number) => {
    const [u, v] = [(x - scaleX.centre) / scaleX.extent, (y - scaleY.centre) / scaleY.extent];
    return isQuadratic ? [1, u, v, u * u, u * v, v * v] : [1, u, v];
  };
  const rows = inputs.map(([x, y]) => terms(x, y));
  const forX = solveLeastSquares(
    rows,
    points.map((point) => to(point)[0]),
  );
  const forY = solveLeastSquares(
    rows,
    points.map((point) => to(point)[1]),
  );
  const evaluate = (weights: readonly number[], row: readonly number[]) => {
    let sum = 0;
    for (let at = 0; at < row.length; at += 1) {
      sum += weights[at]! * row[at]!;
    }
    return sum;
  };
  return (xs, ys) => {
    for (let at = 0; at < xs.length; at += 1) {
      const row = terms(xs[at]!, ys[at]!);
      xs[at] = evaluate(forX, row);
      ys[at] = evaluate(forY, row);
    }
  };
}

function toScaling(values: readonly number[]): { centre: number; extent: number } {
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  return { centre: (least + greatest) / 2, extent: (greatest - least) / 2 || 1 };
}

/** Normal equations, by Gauss elimination with pivots. */
function solveLeastSquares(rows: readonly (readonly number[])[], values: readonly number[]): readonly number[] {
  const size = rows[0]?.length ?? 0;
  const matrix = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (__, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
    rows.reduce((sum, row, at) => sum + row[i]! * values[at]!, 0),
  ]);
  for (let column = 0; column < size; column += 1) {
    const pivot = Array.from({ length: size - column }, (_, at) => column + at).reduce((best, at) =>
      Math.abs(matrix[at]![column]!) > Math.abs(matrix[best]![column]!) ? at : best,
    );
    [matrix[column], matrix[pivot]] = [matrix[pivot]!, matrix[column]!];
    const head = matrix[column]!;
    if (Math.abs(head[column]!) < 1e-12) {
      throw new RasterError("invalid-raster", "The control points of the raster do not determine where it is.");
    }
    for (let row = 0; row < size; row += 1) {
      if (row !== column) {
        const factor = matrix[row]![column]! / head[column]!;
        for (let at = column; at <= size; at += 1) {
          matrix[row]![at] = matrix[row]![at]! - factor * head[at]!;
        }
      }
    }
  }
  return matrix.map((row, at) => row[size]! / row[at]!);
}
