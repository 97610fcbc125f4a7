import { type Grid, createReproject, parseCrs } from "@swath/raster";

import { crsUri } from "../tiles/tile-matrix-sets.ts";
import type { Field } from "./coverage.ts";

const DEGREES = parseCrs("OGC:CRS84");

export interface Values {
  readonly field: Field;
  readonly values: readonly (number | null)[];
}

const referencing = (grid: { readonly crs: Grid["crs"] }) => [
  {
    coordinates: ["x", "y"],
    system: { type: grid.crs.isGeographic ? "GeographicCRS" : "ProjectedCRS", id: crsUri(grid.crs) },
  },
  { coordinates: ["t"], system: { type: "TemporalRS", calendar: "Gregorian" } },
];

/** Parameters as CoverageJSON and EDR describe them. */
export const parametersOf = (fields: readonly Field[]) =>
  Object.fromEntries(
    fields.map(({ name, title, band: { unit } }) => [
      name,
      {
        type: "Parameter",
        observedProperty: { label: { en: title } },
        ...(unit !== undefined && { unit: { symbol: unit } }),
      },
    ]),
  );

/** A raster as CoverageJSON (OGC 21-069): values by rows from the north. */
export function toGridCoverage(grid: Grid, ranges: readonly Values[], time: string | undefined) {
  const [minX, minY, maxX, maxY] = grid.bbox;
  const [halfX, halfY] = [(maxX - minX) / grid.width / 2, (maxY - minY) / grid.height / 2];
  const axes = {
    x: { start: minX + halfX, stop: maxX - halfX, num: grid.width },
    y: { start: maxY - halfY, stop: minY + halfY, num: grid.height },
    ...(time !== undefined && { t: { values: [time] } }),
  };
  const [axisNames, shape] =
    time === undefined
      ? [
          ["y", "x"],
          [grid.height, grid.width],
        ]
      : [
          ["t", "y", "x"],
          [1, grid.height, grid.width],
        ];
  return {
    type: "Coverage",
    domain: { type: "Domain", domainType: "Grid", axes, referencing: referencing(grid) },
    parameters: parametersOf(ranges.map(({ field }) => field)),
    ranges: Object.fromEntries(
      ranges.map(({ field, values }) => [field.name, { type: "NdArray", dataType: "float", axisNames, shape, values }]),
    ),
  };
}

export interface SeriesRow {
  readonly time: string;
  readonly item: string;
  readonly values: readonly (number | null)[];
}

/** The values of a point over time. */
export function toPointSeries(
  x: number,
  y: number,
  crs: Grid["crs"],
  fields: readonly Field[],
  rows: readonly SeriesRow[],
) {
  const ordered = rows.toSorted((a, b) => a.time.localeCompare(b.time));
  return {
    type: "Coverage",
    domain: {
      type: "Domain",
      domainType: "PointSeries",
      axes: { x: { values: [x] }, y: { values: [y] }, t: { values: ordered.map(({ time }) => time) } },
      referencing: referencing({ crs }),
    },
    parameters: parametersOf(fields),
    ranges: Object.fromEntries(
      fields.map(({ name }, at) => [
        name,
        {
          type: "NdArray",
          dataType: "float",
          axisNames: ["t"],
          shape: [ordered.length],
          values: ordered.map(({ values }) => values[at] ?? null),
        },
      ]),
    ),
  };
}

/** The values along a line. */
export function toTrajectory(
  points: readonly { readonly x: number; readonly y: number; readonly values: readonly (number | null)[] }[],
  crs: Grid["crs"],
  fields: readonly Field[],
) {
  return {
    type: "Coverage",
    domain: {
      type: "Domain",
      domainType: "Trajectory",
      axes: {
        composite: { dataType: "tuple", coordinates: ["x", "y"], values: points.map(({ x, y }) => [x, y]) },
      },
      referencing: referencing({ crs }).slice(0, 1),
    },
    parameters: parametersOf(fields),
    ranges: Object.fromEntries(
      fields.map(({ name }, at) => [
        name,
        {
          type: "NdArray",
          dataType: "float",
          axisNames: ["composite"],
          shape: [points.length],
          values: points.map(({ values }) => values[at] ?? null),
        },
      ]),
    ),
  };
}

/** Kilometres between points in a system, along the sphere. */
export function distancesOf(
  points: readonly { readonly x: number; readonly y: number }[],
  crs: Grid["crs"],
): readonly number[] {
  const xs = Float64Array.from(points, ({ x }) => x);
  const ys = Float64Array.from(points, ({ y }) => y);
  createReproject(crs, DEGREES)(xs, ys);
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  let sum = 0;
  return points.map((_, at) => {
    if (at > 0) {
      const [a, b] = [radians(ys[at - 1]!), radians(ys[at]!)];
      const chord =
        Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(xs[at]! - xs[at - 1]!) / 2) ** 2;
      sum += 2 * 6371 * Math.asin(Math.min(1, Math.sqrt(chord)));
    }
    return sum;
  });
}
