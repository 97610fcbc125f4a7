import { RasterError } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_CUBE_BANDS } from "../../limits.ts";
import {
  type BandInfo,
  type Block,
  type BlockAddress,
  type Raster,
  type Samples,
  bytesOf,
  createSamples,
} from "../raster.ts";
import { readCoordinates, toLabels } from "./coordinates.ts";
import { type Cube, type CubeVariable, sizeOf, toNumber, toText } from "./cube.ts";
import { type CubeGrid, findGrid } from "./find-grid.ts";

/** Blocks of what can be read in any pieces, and the least width of others: many small chunks are read as one. */
const BLOCK = 512;
const MIN_BLOCK = 128;
const MAX_MERGED_BYTES = 16 * 1024 * 1024;

/** What is stored with bands, but is beyond how many there may be. */
const LEFT_OUT = -2;

/** Bands that are stored together: a variable at some positions of its other dimensions. */
interface Group {
  readonly variable: CubeVariable;
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
  const blockWidth = Math.max(...grid.variables.map((variable) => toBlockLength(variable, grid, grid.x)));
  const blockHeight = Math.max(...grid.variables.map((variable) => toBlockLength(variable, grid, grid.y)));
  const bands: BandInfo[] = [];
  const groups: Group[] = [];
  const labels = await readLabels(cube, grid, signal);
  for (const variable of grid.variables) {
    addVariable(variable, grid, labels, bands, groups, blockWidth * blockHeight);
  }
  if (bands.length === 0) {
    throw new RasterError("too-large", `The pieces of the ${cube.format} data are larger than what is read at once.`);
  }
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
      levels: [{ width, height, blockWidth, blockHeight }],
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
        const group = groups[address.group];
        blocks.push(
          group === undefined
            ? undefined
            : await readBlock(cube, grid, group, address, blockWidth, blockHeight, readSignal),
        );
      }
      return blocks;
    },
  };
}

/** Whole chunks, of which small ones are taken together; one length for all variables, of which the largest decides. */
function toBlockLength({ chunks, shape, dimensions, type }: CubeVariable, grid: CubeGrid, name: string): number {
  const at = dimensions.indexOf(name);
  const length = shape[at]!;
  if (chunks === undefined) {
    return Math.min(BLOCK, length);
  }
  const chunk = Math.min(chunks[at]!, length);
  const others = sizeOf(chunks.filter((_, index) => dimensions[index] !== grid.x && dimensions[index] !== grid.y));
  return chunk < MIN_BLOCK && others * bytesOf(type) * MIN_BLOCK * MIN_BLOCK <= MAX_MERGED_BYTES
    ? Math.min(chunk * Math.ceil(MIN_BLOCK / chunk), Math.max(length, 1))
    : chunk;
}

type Labels = ReadonlyMap<string, readonly (string | number)[]>;

/** Coordinates of the dimensions beside x and y; positions of those without are counted from 0. */
async function readLabels(cube: Cube, grid: CubeGrid, signal: AbortSignal | undefined): Promise<Labels> {
  const byName = new Map(cube.variables.map((variable) => [variable.name, variable]));
  const names = new Set(grid.variables.flatMap(({ dimensions }) => dimensions));
  const labels = new Map<string, readonly (string | number)[]>();
  for (const name of names) {
    const variable = byName.get(name);
    if (name !== grid.x && name !== grid.y && variable?.shape.length === 1) {
      labels.set(name, toLabels(await readCoordinates(cube, variable, signal), variable));
    }
  }
  return labels;
}

function addVariable(
  variable: CubeVariable,
  grid: CubeGrid,
  labels: Labels,
  bands: BandInfo[],
  groups: Group[],
  blockPixels: number,
): void {
  const { dimensions, shape, chunks, type, attributes } = variable;
  const others = dimensions.flatMap((name, at) => (name === grid.x || name === grid.y ? [] : [at]));
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
      const number = inside.reduce((sum, at, index) => sum * ends[index]! + start[index]! + at, 0);
      return first + number < bands.length ? first + number : LEFT_OUT;
    });
    if (own.some((band) => band !== LEFT_OUT)) {
      groups.push({ variable, start, count, bands: own });
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
  grid: CubeGrid,
  { variable, start, count }: Group,
  { column, row }: BlockAddress,
  blockWidth: number,
  blockHeight: number,
  signal: AbortSignal | undefined,
): Promise<Block> {
  const [left, top] = [column * blockWidth, row * blockHeight];
  const width = Math.min(blockWidth, grid.width - left);
  const height = Math.min(blockHeight, grid.height - top);
  const [from, size]: [number[], number[]] = [[], []];
  let other = 0;
  for (const name of variable.dimensions) {
    if (name === grid.x || name === grid.y) {
      from.push(name === grid.x ? left : top);
      size.push(name === grid.x ? width : height);
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
  return cutPlanes(samples, variable, grid, size, { width, height, blockWidth, blockHeight });
}

/** Planes of the grid, whatever the order of the dimensions is. */
function cutPlanes(
  samples: Samples,
  { dimensions, type }: CubeVariable,
  grid: CubeGrid,
  size: readonly number[],
  { width, height, blockWidth, blockHeight }: Record<"width" | "height" | "blockWidth" | "blockHeight", number>,
): Block {
  const strides = size.map((_, at) => sizeOf(size.slice(at + 1)));
  const [alongX, alongY] = [strides[dimensions.indexOf(grid.x)]!, strides[dimensions.indexOf(grid.y)]!];
  const others = dimensions.flatMap((name, at) => (name === grid.x || name === grid.y ? [] : [at]));
  const ends = others.map((at) => size[at]!);
  return [
    ...positions(
      ends,
      ends.map(() => 1),
    ),
  ].map((place) => {
    const first = place.reduce((sum, index, at) => sum + index * strides[others[at]!]!, 0);
    const plane = createSamples(type, blockWidth * blockHeight);
    for (let line = 0; line < height; line += 1) {
      const begin = first + line * alongY;
      if (alongX === 1) {
        plane.set(samples.subarray(begin, begin + width), line * blockWidth);
      } else {
        for (let at = 0; at < width; at += 1) {
          plane[line * blockWidth + at] = samples[begin + at * alongX]!;
        }
      }
    }
    return plane;
  });
}
