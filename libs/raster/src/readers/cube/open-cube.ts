import { RasterError } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_CUBE_BANDS } from "../../limits.ts";
import {
  type BandInfo,
  type Block,
  type BlockAddress,
  type LevelInfo,
  type Raster,
  type Samples,
  bytesOf,
  createSamples,
} from "../raster.ts";
import { readCoordinates, toLabels } from "./coordinates.ts";
import { type Cube, type CubeVariable, sizeOf, toNumber, toText } from "./cube.ts";
import { type CubeGrid, findGrid } from "./find-grid.ts";
import type { PlacedVariable } from "./placed-variable.ts";

/** Blocks of what can be read in any pieces, and the least width of others: many small chunks are read as one. */
const BLOCK = 512;
const MIN_BLOCK = 128;
const MAX_MERGED_BYTES = 16 * 1024 * 1024;

/** What is stored with bands, but is beyond how many there may be. */
const LEFT_OUT = -2;

/** Bands that are stored together: a variable at some positions of its other dimensions. */
interface Group {
  /** Number of the variable among those of each level. */
  readonly placed: number;
  readonly start: readonly number[];
  readonly count: readonly number[];
  readonly bands: readonly number[];
}

/** A cube as a raster: each variable on its main grid has a band at each position of its other dimensions. */
export async function openCube(
  cube: Cube,
  source: Pick<Raster, "isCurrent" | "close"> & { readonly key: string },
  signal?: AbortSignal,
): Promise<Raster> {
  const grid = await findGrid(cube, signal);
  const levels = [grid, ...grid.levels].map(toLayout);
  const [full] = levels;
  const bands: BandInfo[] = [];
  const groups: Group[] = [];
  const labels = await readLabels(cube, grid, signal);
  for (const [at, placed] of grid.placed.entries()) {
    addVariable(placed, at, labels, bands, groups, full!.blockWidth * full!.blockHeight);
  }
  if (bands.length === 0) {
    throw new RasterError("too-large", `The pieces of the ${cube.format} data are larger than what is read at once.`);
  }
  // What a block of the full image has of the other dimensions, one of a smaller image has as well.
  const usable = levels.filter((level) => groups.every((group) => bytesOfBlock(level, group) <= MAX_BLOCK_BYTES));
  const { width, height, transform, crs, unknownCrs } = grid;
  const [first] = grid.variables;
  return {
    key: source.key,
    info: {
      format: cube.format,
      width,
      height,
      bands,
      ...(transform !== undefined && { transform }),
      ...(crs !== undefined && { crs }),
      ...(unknownCrs !== undefined && { unknownCrs }),
      levels: usable.map(toLevelInfo),
      hasMask: false,
      compression: first?.compression ?? "none",
      interleave: "band",
      metadata: Object.fromEntries(
        Object.entries(cube.attributes).flatMap(([name, value]) => {
          const text = toText(value);
          return text === undefined || text.length > 1000 ? [] : [[name, text] as const];
        }),
      ),
    },
    groups: groups.map((group) => group.bands),
    isCurrent: source.isCurrent,
    close: source.close,
    readBlocks: async (addresses, readSignal) => {
      const blocks: (Block | undefined)[] = [];
      // One after the other: what reads is one thread, and one block is much already.
      for (const address of addresses) {
        const [group, level] = [groups[address.group], usable[address.level]];
        blocks.push(
          group === undefined || level === undefined
            ? undefined
            : await readBlock(cube, level, group, address, readSignal),
        );
      }
      return blocks;
    },
  };
}

/** The full image or a smaller one, with where each variable is in it. */
interface Level extends LevelInfo {
  readonly placed: readonly PlacedVariable[];
}

function toLayout({ width, height, placed }: Pick<CubeGrid, "width" | "height" | "placed">): Level {
  // Of coarser variables any part is read.
  const own = placed.filter(({ factor }) => factor === 1);
  const longest = (length: number, axis: "x" | "y") =>
    Math.min(length, Math.max(...own.map((each) => toBlockLength(each, axis))));
  return { width, height, blockWidth: longest(width, "x"), blockHeight: longest(height, "y"), placed };
}

const toLevelInfo = ({ width, height, blockWidth, blockHeight }: Level): LevelInfo => ({
  width,
  height,
  blockWidth,
  blockHeight,
});

function bytesOfBlock({ placed, blockWidth, blockHeight }: Level, group: Group): number {
  return sizeOf(group.count) * blockWidth * blockHeight * bytesOf(placed[group.placed]!.variable.type);
}

/** Whole chunks, of which small ones are taken together; one length for all variables, of which the largest decides. */
function toBlockLength({ variable, x, y }: PlacedVariable, axis: "x" | "y"): number {
  const { chunks, shape, dimensions, type } = variable;
  const at = dimensions.indexOf(axis === "x" ? x : y);
  const length = shape[at]!;
  if (chunks === undefined) {
    return Math.min(BLOCK, length);
  }
  const chunk = Math.min(chunks[at]!, length);
  const others = sizeOf(chunks.filter((_, index) => dimensions[index] !== x && dimensions[index] !== y));
  return chunk < MIN_BLOCK && others * bytesOf(type) * MIN_BLOCK * MIN_BLOCK <= MAX_MERGED_BYTES
    ? Math.min(chunk * Math.ceil(MIN_BLOCK / chunk), Math.max(length, 1))
    : chunk;
}

type Labels = ReadonlyMap<string, readonly (string | number)[]>;

/** Coordinates of the dimensions beside x and y; positions of those without are counted from 0. */
async function readLabels(cube: Cube, grid: CubeGrid, signal: AbortSignal | undefined): Promise<Labels> {
  const byName = new Map(cube.variables.map((variable) => [variable.name, variable]));
  const names = new Set(
    grid.placed.flatMap(({ variable, x, y }) => variable.dimensions.filter((name) => name !== x && name !== y)),
  );
  const labels = new Map<string, readonly (string | number)[]>();
  for (const name of names) {
    const variable = byName.get(name);
    if (variable?.shape.length === 1) {
      labels.set(name, toLabels(await readCoordinates(cube, variable, signal), variable));
    }
  }
  return labels;
}

function addVariable(
  { variable, x, y }: PlacedVariable,
  number: number,
  labels: Labels,
  bands: BandInfo[],
  groups: Group[],
  blockPixels: number,
): void {
  const { dimensions, shape, chunks, type, attributes } = variable;
  const others = dimensions.flatMap((name, at) => (name === x || name === y ? [] : [at]));
  // What can be read in any pieces is read a band at a time.
  const steps = others.map((at) => Math.min(chunks?.[at] ?? 1, shape[at]!));
  if (sizeOf(steps) * blockPixels * bytesOf(type) > MAX_BLOCK_BYTES) {
    return;
  }
  const ends = others.map((at) => shape[at]!);
  const ones = others.map(() => 1);
  const first = bands.length;
  // The order of bands is that of the dimensions, whatever is stored together.
  for (const place of positions(ends, ones)) {
    if (bands.length === MAX_CUBE_BANDS) {
      break;
    }
    const position = Object.fromEntries(
      others.map((at, index) => {
        const name = dimensions[at] ?? "";
        return [name.split("/").at(-1) ?? "", labels.get(name)?.[place[index]!] ?? place[index]!];
      }),
    );
    bands.push(toBand(variable, attributes, position));
  }
  for (const start of positions(ends, steps)) {
    const count = start.map((from, at) => Math.min(steps[at]!, ends[at]! - from));
    const own = [...positions(count, ones)].map((inside) => {
      const band = first + inside.reduce((sum, at, index) => sum * ends[index]! + start[index]! + at, 0);
      return band < bands.length ? band : LEFT_OUT;
    });
    if (own.some((band) => band !== LEFT_OUT)) {
      groups.push({ placed: number, start, count, bands: own });
    }
  }
}

function toBand(
  { name, type }: CubeVariable,
  attributes: CubeVariable["attributes"],
  position: Readonly<Record<string, string | number>>,
): BandInfo {
  const nodata = toNumber(attributes["_FillValue"]) ?? toNumber(attributes["missing_value"]);
  const [scale, offset] = [toNumber(attributes["scale_factor"]), toNumber(attributes["add_offset"])];
  const unit = toText(attributes["units"]);
  const places = Object.entries(position).map(([dimension, value]) => `${dimension}=${value}`);
  return {
    type,
    isComplex: false,
    color: "gray",
    name,
    ...(Object.keys(position).length > 0 && { position }),
    description: [toText(attributes["long_name"]) ?? name, ...places].join(" "),
    ...(nodata !== undefined && { nodata }),
    ...(scale !== undefined && { scale }),
    ...(offset !== undefined && { offset }),
    ...(unit !== undefined && { unit }),
  };
}

/** All places of a box, the last dimension fastest. */
function* positions(ends: readonly number[], steps: readonly number[]): Generator<readonly number[]> {
  const place = ends.map(() => 0);
  for (;;) {
    yield [...place];
    let at = ends.length - 1;
    while (at >= 0 && place[at]! + steps[at]! >= ends[at]!) {
      place[at] = 0;
      at -= 1;
    }
    if (at < 0) {
      return;
    }
    place[at]! += steps[at]!;
  }
}

async function readBlock(
  cube: Cube,
  level: Level,
  { placed: number, start, count }: Group,
  { column, row }: BlockAddress,
  signal: AbortSignal | undefined,
): Promise<Block> {
  const { blockWidth, blockHeight } = level;
  const placed = level.placed[number]!;
  const { variable, x, y, factor } = placed;
  await placed.check?.(signal);
  const [left, top] = [column * blockWidth, row * blockHeight];
  const columns = toSpan(left, Math.min(blockWidth, level.width - left), factor);
  const rows = toSpan(top, Math.min(blockHeight, level.height - top), factor);
  const [from, size]: [number[], number[]] = [[], []];
  let other = 0;
  for (const name of variable.dimensions) {
    if (name === x || name === y) {
      from.push(name === x ? columns.from : rows.from);
      size.push(name === x ? columns.count : rows.count);
    } else {
      from.push(start[other]!);
      size.push(count[other]!);
      other += 1;
    }
  }
  const samples = await cube.read(variable, from, size, signal);
  if (samples.length !== sizeOf(size)) {
    throw new RasterError("invalid-raster", `The ${cube.format} data has fewer values than it says.`);
  }
  return cutPlanes(samples, placed, size, level, columns, rows);
}

/** Pixels of the raster along one side of a block, and those of the variable that they are read from. */
interface Span {
  /** In the raster. */
  readonly first: number;
  readonly length: number;
  /** In the variable. */
  readonly from: number;
  readonly count: number;
}

function toSpan(first: number, length: number, factor: number): Span {
  const from = Math.floor(first / factor);
  return { first, length, from, count: Math.ceil((first + length) / factor) - from };
}

/** Planes of the grid, whatever the order of the dimensions is; pixels of coarser variables are repeated. */
function cutPlanes(
  samples: Samples,
  { variable: { dimensions, type }, x, y, factor }: PlacedVariable,
  size: readonly number[],
  { blockWidth, blockHeight }: LevelInfo,
  columns: Span,
  rows: Span,
): Block {
  const strides = size.map((_, at) => sizeOf(size.slice(at + 1)));
  const [alongX, alongY] = [strides[dimensions.indexOf(x)]!, strides[dimensions.indexOf(y)]!];
  const others = dimensions.flatMap((name, at) => (name === x || name === y ? [] : [at]));
  const ends = others.map((at) => size[at]!);
  const isPlain = alongX === 1 && factor === 1;
  return [
    ...positions(
      ends,
      ends.map(() => 1),
    ),
  ].map((place) => {
    const first = place.reduce((sum, index, at) => sum + index * strides[others[at]!]!, 0);
    const plane = createSamples(type, blockWidth * blockHeight);
    for (let line = 0; line < rows.length; line += 1) {
      const begin = first + (Math.floor((rows.first + line) / factor) - rows.from) * alongY;
      if (isPlain) {
        plane.set(samples.subarray(begin, begin + columns.length), line * blockWidth);
      } else {
        for (let at = 0; at < columns.length; at += 1) {
          const column = Math.floor((columns.first + at) / factor) - columns.from;
          plane[line * blockWidth + at] = samples[begin + column * alongX]!;
        }
      }
    }
    return plane;
  });
}
