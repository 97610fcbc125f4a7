import { RasterError } from "../../errors.ts";
import { MAX_DIMENSION } from "../../limits.ts";
import { type Crs, findCrs } from "../../warp/crs.ts";
import type { Affine } from "../raster.ts";
import { axisOf, isInDegrees } from "./coordinates.ts";
import { findCubeCrs, findProductCrs, nameUnknownCrs } from "./cube-crs.ts";
import { type Cube, type CubeVariable, shortName, sizeOf, toText } from "./cube.ts";
import {
  type CubeLevel,
  type Grid,
  type PlacedVariable,
  findCoarser,
  findCubeLevels,
  readTransform,
} from "./placed-variable.ts";
import { findSpatialDimensions, pathOf } from "./spatial-attributes.ts";

/** The grid that the raster of a cube has, and where that is. */
export interface CubeGrid extends Grid {
  readonly transform?: Affine;
  readonly crs?: Crs;
  readonly unknownCrs?: string;
  /** Its variables, and those of coarser grids beside it. */
  readonly placed: readonly PlacedVariable[];
  /** Smaller grids of the same variables, by falling size. */
  readonly levels: readonly CubeLevel[];
}

/** The grid of a cube with the most values on it; variables of grids that are neither coarser ones nor levels of it are left aside. */
export async function findGrid(cube: Cube, signal?: AbortSignal): Promise<CubeGrid> {
  const byName = new Map(cube.variables.map((variable) => [variable.name, variable]));
  const grids = listGrids(cube, byName);
  const main = chooseMain(grids);
  if (main === undefined) {
    throw new RasterError("unsupported", `The ${cube.format} data has no variable on a grid of x and y.`);
  }
  if (main.width > MAX_DIMENSION || main.height > MAX_DIMENSION) {
    throw new RasterError("invalid-raster", `The grid of ${main.width} × ${main.height} is too large.`);
  }
  const [first] = main.variables;
  const mapping = findMapping(first!, byName);
  const transform =
    (await readTransform(cube, main, signal)) ?? parseGeoTransform(toText(mapping?.attributes["GeoTransform"]));
  const others = grids.filter((grid) => grid !== main);
  const own = main.variables.map((variable) => ({ variable, x: main.x, y: main.y, factor: 1 }));
  const placed = transform === undefined ? own : [...own, ...findCoarser(cube, main, others, transform)];
  const [columns, rows] = [byName.get(main.x), byName.get(main.y)];
  return {
    ...main,
    placed,
    levels: findCubeLevels(cube, main, others, placed, transform),
    ...(transform !== undefined && { transform }),
    ...findSystem(cube, first!, mapping, (isSaid) =>
      columns !== undefined && rows !== undefined && transform !== undefined
        ? assumeDegrees(columns, rows, transform, main.width, main.height, isSaid)
        : undefined,
    ),
  };
}

function listGrids(cube: Cube, byName: ReadonlyMap<string, CubeVariable>): readonly Grid[] {
  const grids = new Map<string, Grid & { readonly variables: CubeVariable[] }>();
  for (const variable of cube.variables) {
    const { dimensions, shape } = variable;
    const [row, column] =
      findSpatialDimensions(variable)?.map((said) => dimensions.findIndex((name) => shortName(name) === said)) ??
      ["y", "x"].map((axis) => dimensions.findIndex((name) => axisOf(name, byName.get(name)) === axis));
    if (column! >= 0 && row! >= 0 && shape.every((length) => length > 0) && !isBounds(variable)) {
      const [x, y] = [dimensions[column!]!, dimensions[row!]!];
      const [width, height] = [shape[column!]!, shape[row!]!];
      // Pyramids and products have the same names of dimensions in each group.
      const key = JSON.stringify([x, y, width, height]);
      const grid = grids.get(key) ?? { x, y, width, height, variables: [] };
      grids.set(key, grid);
      grid.variables.push(variable);
    }
  }
  return [...grids.values()];
}

/** Products of EOPF have what was measured in a group of this name, beside conditions and quality on the same grids. */
const MEASUREMENTS = /(^|\/)measurements\//;

function chooseMain(grids: readonly Grid[]): Grid | undefined {
  const valuesOf = ({ variables }: Grid) => variables.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const measured = grids.filter(({ variables }) => variables.some((variable) => MEASUREMENTS.test(pathOf(variable))));
  const [main] = (measured.length > 0 ? measured : grids).toSorted((a, b) => valuesOf(b) - valuesOf(a));
  return main;
}

/**
 * The system of a variable: what its grid mapping, its own attributes and those of its group name; degrees where its coordinates say so; then
 * what groups further up name, the nearest first; degrees that are likely.
 */
function findSystem(
  cube: Cube,
  variable: CubeVariable,
  mapping: CubeVariable | undefined,
  assume: (isSaid: boolean) => Crs | undefined,
): Pick<CubeGrid, "crs" | "unknownCrs"> {
  const [group, ...above] = variable.groups?.map(({ attributes }) => attributes) ?? [cube.attributes];
  const near = [...(mapping === undefined ? [] : [mapping.attributes]), variable.attributes, group ?? {}];
  const find = (all: typeof near, read: (attributes: (typeof near)[number]) => Crs | undefined) =>
    all.map(read).find((found) => found !== undefined);
  const unknownCrs = near.map(nameUnknownCrs).find((name) => name !== undefined);
  const crs =
    find(near, findCubeCrs) ??
    (unknownCrs === undefined
      ? (assume(true) ??
        find([...above, cube.attributes], findCubeCrs) ??
        find([...near, ...above], findProductCrs) ??
        assume(false))
      : undefined);
  return crs !== undefined ? { crs } : unknownCrs === undefined ? {} : { unknownCrs };
}

/** Edges of cells and the like have a dimension of two or four beside the grid's. */
const isBounds = ({ name }: CubeVariable) => /(_bnds|_bounds)$/.test(name);

/** The variable that `grid_mapping` names, which may be in a group above; GDAL and rioxarray call theirs so without saying it. */
function findMapping(variable: CubeVariable, byName: ReadonlyMap<string, CubeVariable>): CubeVariable | undefined {
  const said = toText(variable.attributes["grid_mapping"])?.split(/[\s:]/)[0];
  for (let folder = variable.name; folder !== "";) {
    folder = folder.split("/").slice(0, -1).join("/");
    for (const name of [said, "spatial_ref", "crs"]) {
      const found = name === undefined ? undefined : byName.get(folder === "" ? name : `${folder}/${name}`);
      if (found !== undefined) {
        return found;
      }
    }
  }
  return undefined;
}

/** GDAL's order: x of the corner, pixel width, rotation, y of the corner, rotation, pixel height. */
function parseGeoTransform(text: string | undefined): Affine | undefined {
  const [c, a, b, f, d, e] = (text ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const all = [a, b, c, d, e, f];
  return all.every((value) => value !== undefined && Number.isFinite(value)) && a !== 0 && e !== 0
    ? (all as unknown as Affine)
    : undefined;
}

function assumeDegrees(
  columns: CubeVariable,
  rows: CubeVariable,
  [a, , c, , e, f]: Affine,
  width: number,
  height: number,
  mustBeSaid: boolean,
): Crs | undefined {
  const [left, right] = [Math.min(c, c + a * width), Math.max(c, c + a * width)];
  const [bottom, top] = [Math.min(f, f + e * height), Math.max(f, f + e * height)];
  const isWithin = left >= -361 && right <= 541 && bottom >= -91 && top <= 91;
  // Metres that happen to be few are those of a projection, which names itself.
  const isSaid = isInDegrees(columns) && isInDegrees(rows);
  const isSilent = toText(columns.attributes["units"]) === undefined && toText(rows.attributes["units"]) === undefined;
  return isWithin && (isSaid || (isSilent && !mustBeSaid)) ? findCrs("EPSG:4326") : undefined;
}
