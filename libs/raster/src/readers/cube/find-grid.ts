import { RasterError } from "../../errors.ts";
import { MAX_DIMENSION } from "../../limits.ts";
import { type Crs, findCrs } from "../../warp/crs.ts";
import type { Affine } from "../raster.ts";
import { axisOf, isInDegrees, readCoordinates, toSpacing } from "./coordinates.ts";
import { findCubeCrs, nameUnknownCrs } from "./cube-crs.ts";
import { type Cube, type CubeVariable, sizeOf, toText } from "./cube.ts";

/** The variables that lie on one horizontal grid, and where that is. */
export interface CubeGrid {
  readonly x: string;
  readonly y: string;
  readonly width: number;
  readonly height: number;
  readonly variables: readonly CubeVariable[];
  readonly transform?: Affine;
  readonly crs?: Crs;
  readonly unknownCrs?: string;
}

/** The grid of a cube with the most values on it; variables of other grids are left aside. */
export async function findGrid(cube: Cube, signal?: AbortSignal): Promise<CubeGrid> {
  const byName = new Map(cube.variables.map((variable) => [variable.name, variable]));
  const grids = new Map<string, { x: string; y: string; width: number; height: number; variables: CubeVariable[] }>();
  for (const variable of cube.variables) {
    const { dimensions, shape } = variable;
    const at = (axis: "x" | "y") => dimensions.findIndex((name) => axisOf(name, byName.get(name)) === axis);
    const [column, row] = [at("x"), at("y")];
    if (column >= 0 && row >= 0 && shape.every((length) => length > 0) && !isBounds(variable)) {
      const [x, y] = [dimensions[column]!, dimensions[row]!];
      const [width, height] = [shape[column]!, shape[row]!];
      const key = JSON.stringify([x, y, width, height]);
      const grid = grids.get(key) ?? { x, y, width, height, variables: [] };
      grids.set(key, grid);
      grid.variables.push(variable);
    }
  }
  const valuesOf = ({ variables }: { variables: readonly CubeVariable[] }) =>
    variables.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const [main] = [...grids.values()].toSorted((a, b) => valuesOf(b) - valuesOf(a));
  if (main === undefined) {
    throw new RasterError("unsupported", `The ${cube.format} data has no variable on a grid of x and y.`);
  }
  if (main.width > MAX_DIMENSION || main.height > MAX_DIMENSION) {
    throw new RasterError("invalid-raster", `The grid of ${main.width} × ${main.height} is too large.`);
  }
  const [first] = main.variables;
  const mapping = findMapping(first!, byName);
  const [columns, rows] = [byName.get(main.x), byName.get(main.y)];
  const spacings =
    columns === undefined || rows === undefined
      ? undefined
      : ([
          toSpacing(main.x, await readCoordinates(cube, columns, signal)),
          toSpacing(main.y, await readCoordinates(cube, rows, signal)),
        ] as const);
  const transform: Affine | undefined =
    spacings === undefined
      ? parseGeoTransform(toText(mapping?.attributes["GeoTransform"]))
      : [spacings[0].step, 0, spacings[0].origin, 0, spacings[1].step, spacings[1].origin];
  const unknownCrs = [mapping?.attributes, first!.attributes, cube.attributes]
    .map((attributes) => attributes && nameUnknownCrs(attributes))
    .find((name) => name !== undefined);
  const crs =
    (mapping && findCubeCrs(mapping.attributes)) ??
    findCubeCrs(first!.attributes) ??
    findCubeCrs(cube.attributes) ??
    (unknownCrs === undefined && columns !== undefined && rows !== undefined && transform !== undefined
      ? assumeDegrees(columns, rows, transform, main.width, main.height)
      : undefined);
  return {
    ...main,
    ...(transform !== undefined && { transform }),
    ...(crs !== undefined ? { crs } : unknownCrs !== undefined && { unknownCrs }),
  };
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
): Crs | undefined {
  const [left, right] = [Math.min(c, c + a * width), Math.max(c, c + a * width)];
  const [bottom, top] = [Math.min(f, f + e * height), Math.max(f, f + e * height)];
  const isWithin = left >= -361 && right <= 541 && bottom >= -91 && top <= 91;
  // Metres that happen to be few are those of a projection, which names itself.
  const isSaid = isInDegrees(columns) && isInDegrees(rows);
  const isSilent = toText(columns.attributes["units"]) === undefined && toText(rows.attributes["units"]) === undefined;
  return isWithin && (isSaid || isSilent) ? findCrs("EPSG:4326") : undefined;
}
