import type { Crs } from "../warp/crs.ts";

export type SampleType = "uint8" | "int8" | "uint16" | "int16" | "uint32" | "int32" | "float32" | "float64";

/** The arrays of each type. */
export interface SampleArrays {
  readonly uint8: Uint8Array;
  readonly int8: Int8Array;
  readonly uint16: Uint16Array;
  readonly int16: Int16Array;
  readonly uint32: Uint32Array;
  readonly int32: Int32Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;
}

export type Samples = SampleArrays[SampleType];

/** Pixel corner (column, row) → coordinates: x = a·column + b·row + c, y = d·column + e·row + f. */
export type Affine = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export interface GroundControlPoint {
  readonly column: number;
  readonly row: number;
  readonly x: number;
  readonly y: number;
}

export interface BandInfo {
  readonly type: SampleType;
  /** Samples are complex in the file; their amplitude is read. */
  readonly isComplex: boolean;
  readonly nodata?: number;
  /** value = sample · scale + offset */
  readonly scale?: number;
  readonly offset?: number;
  readonly unit?: string;
  readonly description?: string;
  readonly color: "gray" | "palette" | "red" | "green" | "blue" | "alpha" | "undefined";
  /** The variable of a cube that the band is of. */
  readonly name?: string;
  /** Where the band is in the dimensions of its variable beside x and y: times are instants (ISO 8601). */
  readonly position?: Readonly<Record<string, string | number>>;
}

/** The full image, or a smaller one of it. */
export interface LevelInfo {
  readonly width: number;
  readonly height: number;
  readonly blockWidth: number;
  readonly blockHeight: number;
}

export interface RasterInfo {
  readonly format: "GeoTIFF" | "JPEG 2000" | "NetCDF" | "HDF5" | "Zarr";
  readonly width: number;
  readonly height: number;
  readonly bands: readonly BandInfo[];
  readonly crs?: Crs;
  /** What the file calls a system that points cannot be put into exactly; it is not shown anywhere then. */
  readonly unknownCrs?: string;
  readonly transform?: Affine;
  readonly gcps?: readonly GroundControlPoint[];
  /** The full image first, then overviews by falling size. */
  readonly levels: readonly LevelInfo[];
  /** A mask is stored beside the bands. */
  readonly hasMask: boolean;
  /** Red, green, blue, alpha of each value of a palette band. */
  readonly palette?: Uint8Array;
  readonly compression: string;
  readonly interleave: "pixel" | "band";
  readonly metadata: Readonly<Record<string, string>>;
}

/** Samples of a block, one array a band of its group, each `blockWidth` × `blockHeight`. */
export type Block = readonly Samples[];

export interface BlockAddress {
  readonly level: number;
  /** Bands that are stored together share a group; the mask is the last group, with one band. */
  readonly group: number;
  readonly column: number;
  readonly row: number;
}

/** An open raster. */
export interface Raster {
  /** Names the content: see `Source.key`. */
  readonly key: string;
  readonly info: RasterInfo;
  /** Bands (from 0) of each group; one more group holds the mask if there is one. */
  readonly groups: readonly (readonly number[])[];
  /** Reads and decodes blocks; `undefined` for blocks that are not stored. */
  readonly readBlocks: (
    addresses: readonly BlockAddress[],
    signal?: AbortSignal,
  ) => Promise<readonly (Block | undefined)[]>;
  readonly isCurrent: (signal?: AbortSignal) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

interface SamplesConstructor<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): T;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): T;
}

const CONSTRUCTORS: { readonly [T in SampleType]: SamplesConstructor<SampleArrays[T]> } = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
};

export function constructorOf<T extends SampleType>(type: T): SamplesConstructor<SampleArrays[T]> {
  return CONSTRUCTORS[type];
}

export function createSamples<T extends SampleType>(type: T, length: number): SampleArrays[T] {
  return new (constructorOf(type))(length);
}

export function bytesOf(type: SampleType): number {
  return CONSTRUCTORS[type].BYTES_PER_ELEMENT;
}

/** Least and greatest value of an integer type; `undefined` for floats. */
export function rangeOf(type: SampleType): readonly [number, number] | undefined {
  switch (type) {
    case "uint8":
      return [0, 255];
    case "int8":
      return [-128, 127];
    case "uint16":
      return [0, 65_535];
    case "int16":
      return [-32_768, 32_767];
    case "uint32":
      return [0, 4_294_967_295];
    case "int32":
      return [-2_147_483_648, 2_147_483_647];
    case "float32":
    case "float64":
      return undefined;
  }
}
