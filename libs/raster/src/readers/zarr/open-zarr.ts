import { readdir } from "node:fs/promises";

import {
  type DataType,
  type Group,
  type Readable,
  type Array as ZarrArray,
  get,
  open,
  root,
  slice,
  withMaybeConsolidatedMetadata,
} from "zarrita";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_CUBE_OBJECTS, MAX_DIMENSION } from "../../limits.ts";
import { type SourceLocation, describeLocation } from "../../sources/source.ts";
import { type Cube, type CubeVariable, sizeOf } from "../cube/cube.ts";
import { openCube } from "../cube/open-cube.ts";
import { type Raster, type SampleType, type Samples, bytesOf } from "../raster.ts";
import { addBoundedCodecs } from "./codecs.ts";
import { type ZarrStore, createZarrStore } from "./zarr-store.ts";

/** Chunks have no version that is told with the whole: what was read is taken for what is there for so long. */
const MAX_AGE_MS = 60_000;
const CONCURRENCY = 8;

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

type AnyArray = ZarrArray<DataType, Readable>;

/** Opens Zarr data of version 2 or 3 by the address of its root group: its variables on a grid are bands. */
export async function openZarr(location: SourceLocation, signal?: AbortSignal): Promise<Raster> {
  addBoundedCodecs();
  const store = createZarrStore(location);
  const { arrays, attributes } = await orInvalid(() => openAll(store, location, signal));
  const variables = [...arrays].flatMap(([name, array]) => toVariable(name, array) ?? []);
  const cube: Cube = {
    format: "Zarr",
    variables,
    attributes,
    read: async ({ name, type }, start, count, readSignal) => {
      const array = arrays.get(name);
      if (array === undefined || sizeOf(count) * bytesOf(type) > MAX_BLOCK_BYTES) {
        throw new RasterError("too-large", "More of a variable is asked for than is read at once.");
      }
      const parts = start.map((from, at) => slice(from, from + count[at]!));
      const { data } = await orInvalid(async () =>
        get(array, parts, { ...(readSignal && { opts: { signal: readSignal } }) } as never),
      );
      return toSamples(data, type);
    },
  };
  const openedIn = currentAge();
  const key = `${describeLocation(location)}#${store.digest()}-${openedIn}`;
  return openCube(cube, {
    key,
    isCurrent: async () => currentAge() === openedIn,
    close: async () => {},
  });
}

const currentAge = () => Math.floor(Date.now() / MAX_AGE_MS);

async function openAll(
  store: ZarrStore,
  location: SourceLocation,
  signal: AbortSignal | undefined,
): Promise<{ arrays: Map<string, AnyArray>; attributes: Readonly<Record<string, unknown>> }> {
  const all = await withMaybeConsolidatedMetadata(store);
  const options = signal === undefined ? {} : { signal };
  const top = await open(all, options).catch((error: unknown) => {
    throw store.refusal() ?? toInvalid(error, "There is no Zarr group at the address.");
  });
  const arrays = new Map<string, AnyArray>();
  if (top.kind === "array") {
    throw new RasterError("unsupported", "A Zarr array alone does not say where it is; give the group it is in.");
  }
  const names =
    "contents" in all && typeof all.contents === "function"
      ? (all.contents() as { path: string; kind: string }[])
          .filter(({ kind }) => kind === "array")
          .map(({ path }) => path.replace(/^\/+/, ""))
      : await listFolder(location);
  if (names.length > MAX_CUBE_OBJECTS) {
    throw invalidRaster(`The Zarr data has ${names.length} variables.`);
  }
  const waiting = names.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const name of waiting) {
        const array = await open(root(all).resolve(name), { ...options, kind: "array" }).catch((error: unknown) => {
          if (error instanceof RasterError) {
            throw error;
          }
          // A variable of a kind that the library does not know leaves the others.
          return undefined;
        });
        if (array !== undefined) {
          arrays.set(name, array as AnyArray);
        }
      }
    }),
  );
  return {
    arrays: new Map([...arrays].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    attributes: (top as Group<Readable>).attrs,
  };
}

/** Groups that do not list what they have can be looked into on a disk only. */
async function listFolder(location: SourceLocation): Promise<readonly string[]> {
  if (location.kind !== "file") {
    throw new RasterError(
      "unsupported",
      "The Zarr data has no consolidated metadata, without which its variables cannot be found.",
    );
  }
  const entries = await readdir(location.path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function toVariable(name: string, array: AnyArray): CubeVariable | undefined {
  const { attrs, shape, chunks, dtype } = array;
  const type = TYPES.get(dtype);
  const isSane =
    type !== undefined &&
    shape.length === chunks.length &&
    shape.every((length) => Number.isInteger(length) && length >= 0 && length <= MAX_DIMENSION) &&
    chunks.every((length) => Number.isInteger(length) && length > 0) &&
    sizeOf(chunks) * bytesOf(type) <= MAX_BLOCK_BYTES;
  const said = array.dimensionNames ?? attrs["_ARRAY_DIMENSIONS"];
  const names = Array.isArray(said) && said.length === shape.length ? (said as readonly unknown[]) : [];
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
    dimensions: shape.map((_, at) =>
      typeof names[at] === "string" ? [...folder, names[at]].join("/") : `${name}/dimension-${at}`,
    ),
    // What was never written reads as the fill value; version 2 has no other way to say what stands for nothing.
    attributes:
      attrs["_FillValue"] === undefined && typeof fillValue === "number" && Number.isNaN(fillValue)
        ? { ...attrs, _FillValue: Number.NaN }
        : attrs,
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
