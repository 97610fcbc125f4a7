import type { SampleType, Samples } from "../raster.ts";

/** Many-dimensional variables with names, as NetCDF, HDF5 and Zarr have them. */
export interface Cube {
  readonly format: "NetCDF" | "HDF5" | "Zarr";
  readonly variables: readonly CubeVariable[];
  /** Attributes of the whole. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Samples of a part of a variable, the last dimension fastest. */
  readonly read: (
    variable: CubeVariable,
    start: readonly number[],
    count: readonly number[],
    signal?: AbortSignal,
  ) => Promise<Samples>;
}

export interface CubeVariable {
  /** With its groups: `grid/precipitation`. */
  readonly name: string;
  /** As the samples are given: there is no type here for integers of 64 bits, they are floats. */
  readonly type: SampleType;
  readonly shape: readonly number[];
  /** What is stored as one piece; left out where pieces of any size can be read. */
  readonly chunks?: readonly number[];
  /** Names of the dimensions, with their groups; a variable of that name has their coordinates. */
  readonly dimensions: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The groups that it is in, the nearest first and the root last; left out where groups have no attributes of their own. */
  readonly groups?: readonly CubeGroup[];
  readonly compression: string;
}

export interface CubeGroup {
  /** From the root of the whole, which may be above what was addressed; empty for the root. */
  readonly path: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The last part of a name with groups. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** The groups of a name, without a slash at the end. */
export const folderOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/")));

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, length) => product * length, 1);

/** The number of an attribute, which formats may give as a list of one. */
export function toNumber(value: unknown): number | undefined {
  const single: unknown =
    Array.isArray(value) || ArrayBuffer.isView(value) ? (value as unknown as unknown[])[0] : value;
  return typeof single === "bigint"
    ? Number(single)
    : typeof single === "number"
      ? single
      : typeof single === "string" && /^-?[\d.]+(e[+-]?\d+)?$|^nan$/i.test(single.trim())
        ? Number(single)
        : undefined;
}

export function toText(value: unknown): string | undefined {
  const single: unknown = Array.isArray(value) && value.length === 1 ? (value as unknown[])[0] : value;
  return typeof single === "string" ? single.trim() : undefined;
}
