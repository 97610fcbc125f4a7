import { type Header, NetCDFReader } from "netcdfjs";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_CUBE_OBJECTS, MAX_METADATA_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";
import { type Cube, type CubeVariable, sizeOf } from "../cube/cube.ts";
import { openCube } from "../cube/open-cube.ts";
import { type Raster, type SampleType, type Samples, bytesOf, createSamples } from "../raster.ts";

const TYPES: ReadonlyMap<string, SampleType> = new Map(
  Object.entries<SampleType>({
    byte: "int8",
    short: "int16",
    int: "int32",
    float: "float32",
    double: "float64",
  }),
);
const FIRST_HEADER_BYTES = 64 * 1024;
/** Parts of a variable that are not side by side are read by themselves, up to this many at once. */
const MAX_RUNS = 65_536;
/** Bytes between two parts that are rather read than left out. */
const MAX_GAP_BYTES = 64 * 1024;

export function isClassicNetcdf(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 3)).toString("latin1") === "CDF" && (head[3] === 1 || head[3] === 2);
}

type HeaderVariable = Header["variables"][number];

/** Opens NetCDF of the classic format and with 64-bit offsets: the header is read whole, values where they are. */
export async function openNetcdf(source: Source, signal?: AbortSignal): Promise<Raster> {
  const header = await readHeader(source, signal);
  if (header.variables.length > MAX_CUBE_OBJECTS) {
    throw invalidRaster(`The NetCDF data has ${header.variables.length} variables.`);
  }
  const places = new Map<string, HeaderVariable>();
  const variables = header.variables.flatMap((variable): readonly CubeVariable[] => {
    const type = TYPES.get(variable.type);
    places.set(variable.name, variable);
    const shape = variable.dimensions.map((at) =>
      at === header.recordDimension.id ? header.recordDimension.length : (header.dimensions[at]?.size ?? 0),
    );
    return [
      {
        name: variable.name,
        type: type ?? "uint8",
        shape: type === undefined ? [] : shape,
        dimensions:
          type === undefined ? [] : variable.dimensions.map((at) => header.dimensions[at]?.name ?? String(at)),
        attributes: toAttributes(variable.attributes),
        compression: "none",
      },
    ];
  });
  const cube: Cube = {
    format: "NetCDF",
    variables,
    attributes: toAttributes(header.globalAttributes),
    read: async (variable, start, count, readSignal) => {
      const place = places.get(variable.name);
      if (place === undefined || sizeOf(count) * bytesOf(variable.type) > MAX_BLOCK_BYTES) {
        throw new RasterError("too-large", "More of a variable is asked for than is read at once.");
      }
      const step = place.record ? (header.recordDimension.recordStep ?? 0) : undefined;
      return readPart(source, variable, place.offset, step, start, count, readSignal);
    },
  };
  return openCube(cube, { key: source.key, isCurrent: source.isCurrent, close: source.close }, signal);
}

/** How long a header is, it does not say: it is read further until it can be understood. */
async function readHeader(source: Source, signal: AbortSignal | undefined): Promise<Header> {
  for (let length = FIRST_HEADER_BYTES; ; length *= 4) {
    const bytes = await source.read(0, Math.min(length, MAX_METADATA_BYTES), signal);
    try {
      return new NetCDFReader(bytes).header;
    } catch (error) {
      const isWhole = bytes.length < length || bytes.length === source.size;
      if (isWhole || length >= MAX_METADATA_BYTES) {
        throw invalidRaster("The header of the NetCDF data cannot be read.", error);
      }
    }
  }
}

function toAttributes(list: readonly { readonly name: string; readonly value: unknown }[]): Record<string, unknown> {
  // Texts are filled up with zeros.
  return Object.fromEntries(
    list.map(({ name, value }) => [name, typeof value === "string" ? value.replace(/\0+$/, "") : value]),
  );
}

/** Values are big-endian and lie row after row; those of a record variable are a record's step apart. */
async function readPart(
  source: Source,
  { type, shape }: CubeVariable,
  offset: number,
  recordStep: number | undefined,
  start: readonly number[],
  count: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Samples> {
  const width = bytesOf(type);
  const strides = shape.map((_, at) =>
    at === 0 && recordStep !== undefined ? recordStep : width * sizeOf(shape.slice(at + 1)),
  );
  const run = count.at(-1) ?? 1;
  const isSpread = shape.length === 1 && recordStep !== undefined;
  const runs = isSpread ? run : sizeOf(count.slice(0, -1));
  if (runs > MAX_RUNS) {
    throw new RasterError("too-large", "The part of the NetCDF data lies in too many places.");
  }
  const length = isSpread ? width : run * width;
  const offsets = Array.from({ length: runs }, (_, index) => {
    let [rest, place] = [index, offset];
    for (let at = isSpread ? 0 : shape.length - 2; at >= 0; at -= 1) {
      place += (start[at]! + (rest % count[at]!)) * strides[at]!;
      rest = Math.floor(rest / count[at]!);
    }
    return place + (isSpread ? 0 : (start.at(-1) ?? 0) * width);
  });
  const samples = createSamples(type, sizeOf(count));
  const target = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  for (let first = 0; first < runs;) {
    // Runs with little between them are one read.
    let last = first;
    while (
      last + 1 < runs &&
      offsets[last + 1]! - offsets[last]! - length <= MAX_GAP_BYTES &&
      offsets[last + 1]! > offsets[last]! &&
      offsets[last + 1]! + length - offsets[first]! <= MAX_BLOCK_BYTES
    ) {
      last += 1;
    }
    const begin = offsets[first]!;
    const requested = offsets[last]! + length - begin;
    const bytes = await source.read(begin, requested, signal);
    if (bytes.length < requested) {
      throw invalidRaster("The NetCDF data is truncated.");
    }
    for (; first <= last; first += 1) {
      target.set(bytes.subarray(offsets[first]! - begin, offsets[first]! - begin + length), first * length);
    }
  }
  return swap(samples, target, width);
}

function swap(samples: Samples, bytes: Buffer, width: number): Samples {
  if (width === 2) {
    bytes.swap16();
  } else if (width === 4) {
    bytes.swap32();
  } else if (width === 8) {
    bytes.swap64();
  }
  return samples;
}
