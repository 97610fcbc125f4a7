import { get, slice } from "zarrita";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_DIMENSION } from "../../limits.ts";
import { type Source, type SourceLocation, describeLocation } from "../../sources/source.ts";
import { type Cube, type CubeGroup, type CubeVariable, folderOf, sizeOf } from "../cube/cube.ts";
import { openCube } from "../cube/open-cube.ts";
import { type Raster, type SampleType, type Samples, bytesOf } from "../raster.ts";
import { addBoundedCodecs } from "./codecs.ts";
import {
  type AnyArray,
  type Attributes,
  type Hierarchy,
  findHierarchy,
  openArrays,
  readGroupAttributes,
} from "./hierarchy.ts";
import { isParquetReferences } from "./location-path.ts";
import { readParquetReferences } from "./parquet-references.ts";
import { readReferences } from "./references.ts";

/** Chunks have no version that is told with the whole: what was read is taken for what is there for so long. */
const MAX_AGE_MS = 60_000;
/** Chunks that one block, or the coordinates of one dimension, may be read from. */
const MAX_PIECES = 4096;
const TYPES: ReadonlyMap<string, SampleType> = new Map(
  Object.entries<SampleType>({
    uint8: "uint8",
    int8: "int8",
    uint16: "uint16",
    int16: "int16",
    uint32: "uint32",
    int32: "int32",
    uint64: "float64",
    int64: "float64",
    float16: "float32",
    float32: "float32",
    float64: "float64",
    bool: "uint8",
  }),
);

/**
 * Opens Zarr data of version 2 or 3 by the address of a group or an array: variables on a grid are bands. The metadata may be
 * consolidated in any group above, or in a folder of references (kerchunk). Places come from coordinates (CF), from the attributes of the GeoZarr conventions, or from those of EOPF.
 */
export async function openZarr(location: SourceLocation, signal?: AbortSignal): Promise<Raster> {
  const find = isParquetReferences(location) ? readParquetReferences : findHierarchy;
  return openHierarchy(location, () => find(location, signal), signal);
}

/** Opens Zarr data by references to parts of other files, which stand in one file of JSON (kerchunk). */
export async function openReferences(source: Source, location: SourceLocation, signal?: AbortSignal): Promise<Raster> {
  const raster = await openHierarchy(location, () => readReferences(source, location, signal), signal);
  await source.close();
  return raster;
}

async function openHierarchy(
  location: SourceLocation,
  find: () => Promise<Hierarchy>,
  signal: AbortSignal | undefined,
): Promise<Raster> {
  addBoundedCodecs();
  const { cube, arrays, digest } = await orInvalid(async () => openGroup(await find(), signal));
  const openedIn = currentAge();
  const key = `${describeLocation(location)}#${digest()}-${openedIn}`;
  return openCube(
    {
      ...cube,
      read: async ({ name, type }, start, count, readSignal) => {
        const array = arrays.get(name);
        if (array === undefined || sizeOf(count) * bytesOf(type) > MAX_BLOCK_BYTES) {
          throw new RasterError("too-large", "More of a variable is asked for than is read at once.");
        }
        checkPieces(name, array.chunks, start, count);
        const parts = start.map((from, at) => slice(from, from + count[at]!));
        const { data } = await orInvalid(async () =>
          get(array, parts, { ...(readSignal && { opts: { signal: readSignal } }) } as never),
        );
        return toSamples(data, type);
      },
    },
    {
      key,
      isCurrent: async () => currentAge() === openedIn,
      close: async () => {},
    },
    signal,
  );
}

/** Each chunk is a request: many small ones for one part of a variable would be as many. */
function checkPieces(
  name: string,
  chunks: readonly number[],
  start: readonly number[],
  count: readonly number[],
): void {
  const pieces = sizeOf(
    chunks.map((length, at) => Math.ceil((start[at]! + count[at]!) / length) - Math.floor(start[at]! / length)),
  );
  if (pieces > MAX_PIECES) {
    throw new RasterError(
      "too-large",
      `"${name.slice(0, 100)}" has chunks of ${chunks.join(" × ")} values, so that one part of it is ${pieces} requests (${MAX_PIECES} are allowed); write it with larger chunks.`,
    );
  }
}

const currentAge = () => Math.floor(Date.now() / MAX_AGE_MS);

/** The arrays below the addressed group by their paths from there, or an addressed array with its coordinates. */
async function openGroup(
  hierarchy: Hierarchy,
  signal: AbortSignal | undefined,
): Promise<{
  readonly cube: Omit<Cube, "read">;
  readonly arrays: ReadonlyMap<string, AnyArray>;
  readonly digest: () => string;
}> {
  const { path, digest } = hierarchy;
  if (hierarchy.arrays === undefined) {
    throw new RasterError(
      "unsupported",
      "The Zarr data has no consolidated metadata, without which the variables of a group cannot be found; give the address of an array.",
    );
  }
  const isArray = hierarchy.arrays.includes(path);
  const group = isArray ? folderOf(path) : path;
  const below = (names: readonly string[]) => names.filter((name) => group === "" || name.startsWith(`${group}/`));
  const opened = isArray
    ? await openWithCoordinates(hierarchy, path, signal)
    : await openArrays(hierarchy, below(hierarchy.arrays), signal);
  const toName = (full: string) => (group === "" ? full : full.slice(group.length + 1));
  const groups = await readGroups(hierarchy, [...opened.keys()].map(folderOf), signal);
  const arrays = new Map([...opened].map(([full, array]) => [toName(full), array]));
  const variables = [...opened].flatMap(([full, array]) => {
    const own = chainOf(folderOf(full)).map((folder) => ({ path: folder, attributes: groups.get(folder) ?? {} }));
    const variable = toVariable(toName(full), array, own, hierarchy.version === 2);
    return variable === undefined ? [] : [variable];
  });
  return { cube: { format: "Zarr", variables, attributes: groups.get(group) ?? {} }, arrays, digest };
}

/** A group and those it is in, up to the root. */
function chainOf(group: string): readonly string[] {
  const parts = group === "" ? [] : group.split("/");
  return [...parts.map((_, at) => parts.slice(0, parts.length - at).join("/")), ""];
}

/** Attributes of groups and of all those that they are in. */
async function readGroups(
  hierarchy: Hierarchy,
  folders: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Attributes>> {
  const names = new Set(folders.flatMap(chainOf));
  return new Map(
    await Promise.all(
      [...names].map(async (name) => [name, await readGroupAttributes(hierarchy, name, signal)] as const),
    ),
  );
}

/** What lies beside an array and says where it is: coordinates are called as dimensions are (CF conventions 1.11, section 5.1). */
async function openWithCoordinates(
  hierarchy: Hierarchy,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, AnyArray>> {
  const own = await openArrays(hierarchy, [path], signal);
  const array = own.get(path);
  if (array === undefined) {
    throw new RasterError("unsupported", "The Zarr array is of a kind that is not read.");
  }
  const folder = folderOf(path);
  const mapping = array.attrs["grid_mapping"];
  const beside = [...namesOf(array), ...(typeof mapping === "string" ? [mapping] : []), "spatial_ref", "crs"]
    .filter((name) => /^[^/]+$/.test(name))
    .map((name) => (folder === "" ? name : `${folder}/${name}`))
    .filter((name) => name !== path);
  return new Map([...own, ...(await openArrays(hierarchy, new Set(beside), signal))]);
}

function namesOf({ attrs, dimensionNames, shape }: AnyArray): readonly string[] {
  const said: unknown = dimensionNames ?? attrs["_ARRAY_DIMENSIONS"];
  const names = Array.isArray(said) && said.length === shape.length ? (said as readonly unknown[]) : [];
  return names.map((name) => (typeof name === "string" ? name : ""));
}

function toVariable(
  name: string,
  array: AnyArray,
  groups: readonly CubeGroup[],
  hasVersion2: boolean,
): CubeVariable | undefined {
  const { attrs, shape, chunks, dtype } = array;
  const type = TYPES.get(dtype);
  const isSane =
    type !== undefined &&
    shape.length === chunks.length &&
    shape.every((length) => Number.isInteger(length) && length >= 0 && length <= MAX_DIMENSION) &&
    chunks.every((length) => Number.isInteger(length) && length > 0) &&
    sizeOf(chunks) * bytesOf(type) <= MAX_BLOCK_BYTES;
  const names = namesOf(array);
  if (!isSane) {
    return undefined;
  }
  // Dimensions are those of the group that the array is in.
  const folder = name.split("/").slice(0, -1);
  const { fillValue } = array;
  return {
    name,
    type,
    shape,
    chunks,
    dimensions: shape.map((_, at) => (names[at] ? [...folder, names[at]].join("/") : `${name}/dimension-${at}`)),
    // What was never written reads as the fill value; version 2 has no other way to say what stands for nothing (as GDAL and xarray have it).
    attributes:
      attrs["_FillValue"] === undefined &&
      typeof fillValue === "number" &&
      (hasVersion2 ? attrs["missing_value"] === undefined : Number.isNaN(fillValue))
        ? { ...attrs, _FillValue: fillValue }
        : attrs,
    groups,
    compression: "zarr",
  };
}

function toSamples(data: unknown, type: SampleType): Samples {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    return Float64Array.from(data, Number);
  }
  if (type === "uint8" && !(data instanceof Uint8Array)) {
    return Uint8Array.from(data as Iterable<boolean | number>, Number);
  }
  if (type === "float32" && !(data instanceof Float32Array)) {
    return Float32Array.from(data as Iterable<number>);
  }
  return data as Samples;
}

/** What the library finds wrong is the data's fault. */
async function orInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toInvalid(error, "The Zarr data cannot be read.");
  }
}

function toInvalid(error: unknown, message: string): RasterError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RasterError) {
      return cause;
    }
  }
  return invalidRaster(message, error);
}
