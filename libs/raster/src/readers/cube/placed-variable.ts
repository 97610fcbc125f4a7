import { RasterError } from "../../errors.ts";
import type { Affine } from "../raster.ts";
import { readCoordinates, toSpacing } from "./coordinates.ts";
import { type Cube, type CubeVariable, folderOf, shortName } from "./cube.ts";
import { findProjTransform, findSpatialTransform, listLevels, pathOf } from "./spatial-attributes.ts";

/** A variable on a grid of x and y. */
export interface PlacedVariable {
  readonly variable: CubeVariable;
  /** Names of its dimensions. */
  readonly x: string;
  readonly y: string;
  /** Pixels of the raster along each side of one of its own. */
  readonly factor: number;
  /** Makes sure that its pixels lie where the raster's do. @throws {RasterError} `unsupported` where they do not */
  readonly check?: (signal?: AbortSignal) => Promise<void>;
}

/** Variables that lie on one grid. */
export interface Grid {
  readonly x: string;
  readonly y: string;
  readonly width: number;
  readonly height: number;
  readonly variables: readonly CubeVariable[];
}

/** A grid of fewer pixels over the same area, for each placed variable in their order. */
export interface CubeLevel {
  readonly width: number;
  readonly height: number;
  readonly placed: readonly PlacedVariable[];
}

/** Share of a pixel by which grids of one product may differ. */
const TOLERANCE = 0.01;

/**
 * Variables of coarser grids beside the main one, as Sentinel-2 products have 20 m and 60 m bands in groups beside that of 10 m: each
 * pixel is repeated. What the main grid, or a finer one, has by the same name is left out, as its levels are.
 */
export function findCoarser(
  cube: Cube,
  main: Grid,
  others: readonly Grid[],
  transform: Affine,
): readonly PlacedVariable[] {
  const [first] = main.variables;
  const folder = folderOf(first!.name);
  if (folder === "") {
    return [];
  }
  const names = new Set(main.variables.map(({ name }) => shortName(name)));
  const found: PlacedVariable[] = [];
  for (const grid of others.toSorted((a, b) => b.width - a.width)) {
    const factor = Math.round(main.width / grid.width);
    const isBeside = folderOf(folderOf(grid.variables[0]!.name)) === folderOf(folder);
    const isWhole = Math.ceil(main.width / factor) === grid.width && Math.ceil(main.height / factor) === grid.height;
    if (factor < 2 || !isBeside || !isWhole) {
      continue;
    }
    const expected = scale(transform, factor);
    const check = checkOnce(cube, grid, (lies) => lies !== undefined && isAligned(grid, expected, lies));
    for (const variable of grid.variables) {
      if (!names.has(shortName(variable.name))) {
        names.add(shortName(variable.name));
        found.push({ variable, x: grid.x, y: grid.y, factor, check });
      }
    }
  }
  return found;
}

/**
 * The levels of the pyramid that the variables are in, by falling size; only those that have all of them, and whose attributes do not say
 * that they lie elsewhere. Coordinates of levels are read when a level is.
 */
export function findCubeLevels(
  cube: Cube,
  main: Grid,
  grids: readonly Grid[],
  placed: readonly PlacedVariable[],
  transform: Affine | undefined,
): readonly CubeLevel[] {
  const entries = listLevels(main.variables[0]!);
  const byPath = new Map(
    grids.flatMap((grid) => grid.variables.map((variable) => [pathOf(variable), { grid, variable }] as const)),
  );
  const levels = entries.flatMap(({ path }): readonly CubeLevel[] => {
    const found = placed.map(({ variable }) => {
      const isArray = entries.some((entry) => entry.path === pathOf(variable));
      return byPath.get(isArray ? path : `${path}/${shortName(variable.name)}`);
    });
    const grid = found[0]?.grid;
    const said = grid && findSpatialTransform(grid.variables[0]!, grid.width, grid.height);
    if (
      grid === undefined ||
      !isCoarserThan(main, grid) ||
      (transform !== undefined && said !== undefined && !isLevelOf(main, grid, transform, said))
    ) {
      return [];
    }
    const lies = (found: Affine | undefined) => found === undefined || isLevelOf(main, grid, transform!, found);
    const check = transform === undefined || said !== undefined ? {} : { check: checkOnce(cube, grid, lies) };
    const all = found.flatMap((each, at) =>
      each !== undefined &&
      each.grid.width === grid.width &&
      each.grid.height === grid.height &&
      isAlike(each.variable, each.grid, placed[at]!)
        ? [{ variable: each.variable, x: each.grid.x, y: each.grid.y, factor: 1, ...check }]
        : [],
    );
    return all.length === placed.length ? [{ width: grid.width, height: grid.height, placed: all }] : [];
  });
  const sorted = levels.toSorted((a, b) => b.width - a.width);
  return sorted.filter(({ width }, at) => at === 0 || width < sorted[at - 1]!.width);
}

/** Whether a grid has the same sides with fewer pixels, but for a part of its last one. */
function isCoarserThan(main: Grid, grid: Grid): boolean {
  const scaled = main.height / grid.height;
  return grid.width < main.width && grid.height < main.height && Math.abs(main.width - scaled * grid.width) <= scaled;
}

/** Whether a smaller grid covers the same area; a part of its last pixel may lie beyond the full image. */
function isLevelOf(main: Grid, grid: Grid, [a, b, c, d, e, f]: Affine, found: Affine): boolean {
  const [own, level] = [
    [a * main.width, b * main.height, c, d * main.width, e * main.height, f],
    [found[0] * grid.width, found[1] * grid.height, found[2], found[3] * grid.width, found[4] * grid.height, found[5]],
  ];
  const pixel = Math.max(Math.hypot(found[0], found[3]), Math.hypot(found[1], found[4]));
  return own.every((value, at) => Math.abs(value - level[at]!) <= pixel * (at % 3 === 2 ? TOLERANCE : 1));
}

/** Whether a level holds the same samples: of the same type, at as many places of the other dimensions, in their order. */
function isAlike(level: CubeVariable, grid: Grid, { variable, x, y }: PlacedVariable): boolean {
  const others = ({ dimensions, shape }: CubeVariable, own: readonly string[]) =>
    dimensions
      .map((name, at) => (own.includes(name) ? `${own.indexOf(name)}` : `${shortName(name)}=${shape[at]}`))
      .join();
  return level.type === variable.type && others(level, [grid.x, grid.y]) === others(variable, [x, y]);
}

const scale = ([a, b, c, d, e, f]: Affine, factor: number): Affine => [
  a * factor,
  b * factor,
  c,
  d * factor,
  e * factor,
  f,
];

/** Reads where a grid is only when something on it is asked for. */
function checkOnce(
  cube: Cube,
  grid: Grid,
  isRight: (transform: Affine | undefined) => boolean,
): (signal?: AbortSignal) => Promise<void> {
  const check = async (signal: AbortSignal | undefined) => {
    if (!isRight(await readTransform(cube, grid, signal))) {
      throw new RasterError(
        "unsupported",
        `"${grid.variables[0]!.name.slice(0, 100)}" does not lie where the finer variables do; give the address of its group.`,
      );
    }
  };
  let checked: Promise<void> | undefined;
  return async (signal) => {
    checked ??= check(signal);
    try {
      await checked;
    } catch (error) {
      checked = undefined;
      throw error;
    }
  };
}

function isAligned(grid: Grid, expected: Affine, found: Affine): boolean {
  const pixel = Math.min(Math.hypot(expected[0], expected[3]), Math.hypot(expected[1], expected[4])) * TOLERANCE;
  const limits = [pixel / grid.width, pixel / grid.height, pixel, pixel / grid.width, pixel / grid.height, pixel];
  return found.every((value, at) => Math.abs(value - expected[at]!) <= limits[at]!);
}

/** Where the pixels of a grid are: by attributes, else by coordinates; undefined where neither says it. */
export async function readTransform(cube: Cube, grid: Grid, signal?: AbortSignal): Promise<Affine | undefined> {
  const [first] = grid.variables;
  const said = findSpatialTransform(first!, grid.width, grid.height);
  if (said !== undefined) {
    return said;
  }
  const [columns, rows] = [grid.x, grid.y].map((name) => cube.variables.find((variable) => variable.name === name));
  if (columns === undefined || rows === undefined) {
    return findProjTransform(first!);
  }
  const x = toSpacing(grid.x, await readCoordinates(cube, columns, signal));
  const y = toSpacing(grid.y, await readCoordinates(cube, rows, signal));
  return [x.step, 0, x.origin, 0, y.step, y.origin];
}
