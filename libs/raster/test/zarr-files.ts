// Zarr data as products have it, written byte by byte: what is read is compared with what stands here.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Attributes = Readonly<Record<string, unknown>>;

interface ArrayOptions {
  readonly shape: readonly number[];
  readonly chunks?: readonly number[];
  readonly dimensions: readonly string[];
  readonly values: ArrayLike<number>;
  readonly type?: "uint16" | "float64";
  readonly fill?: number | null;
  readonly attributes?: Attributes;
}

/** Metadata files of a hierarchy and its chunks, uncompressed. */
export class ZarrWriter {
  readonly #version: 2 | 3;
  readonly #files = new Map<string, Uint8Array>();
  readonly #documents = new Map<string, Attributes>();

  constructor(version: 2 | 3) {
    this.#version = version;
  }

  group(path: string, attributes: Attributes = {}): void {
    if (this.#version === 2) {
      this.#document(path, ".zgroup", { zarr_format: 2 });
      if (Object.keys(attributes).length > 0) {
        this.#document(path, ".zattrs", attributes);
      }
    } else {
      this.#document(path, "zarr.json", { zarr_format: 3, node_type: "group", attributes });
    }
  }

  array(path: string, options: ArrayOptions): void {
    const { shape, chunks = shape, dimensions, values, type = "uint16", fill = 0, attributes = {} } = options;
    if (this.#version === 2) {
      const dtype = type === "uint16" ? "<u2" : "<f8";
      const rest = { compressor: null, filters: null, order: "C", dimension_separator: "." };
      this.#document(path, ".zarray", { zarr_format: 2, shape, chunks, dtype, fill_value: fill, ...rest });
      this.#document(path, ".zattrs", { ...attributes, _ARRAY_DIMENSIONS: dimensions });
    } else {
      this.#document(path, "zarr.json", {
        zarr_format: 3,
        node_type: "array",
        shape,
        data_type: type,
        chunk_grid: { name: "regular", configuration: { chunk_shape: chunks } },
        chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
        codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        fill_value: fill ?? 0,
        dimension_names: dimensions,
        attributes,
      });
    }
    this.#chunks(path, shape, chunks, values, type);
  }

  /** @param consolidated whether the root has the metadata of everything */
  write(folder: string, consolidated: boolean): void {
    const files = new Map(this.#files);
    for (const [key, document] of this.#documents) {
      files.set(key, toBytes(document));
    }
    if (consolidated && this.#version === 2) {
      files.set(".zmetadata", toBytes({ zarr_consolidated_format: 1, metadata: Object.fromEntries(this.#documents) }));
    }
    if (consolidated && this.#version === 3) {
      const metadata = Object.fromEntries(
        [...this.#documents].flatMap(([key, document]) =>
          key === "zarr.json" ? [] : [[key.replace(/\/zarr\.json$/, ""), document]],
        ),
      );
      const root = this.#documents.get("zarr.json");
      files.set("zarr.json", toBytes({ ...root, consolidated_metadata: { kind: "inline", metadata } }));
    }
    for (const [key, bytes] of files) {
      mkdirSync(dirname(join(folder, key)), { recursive: true });
      writeFileSync(join(folder, key), bytes);
    }
  }

  #document(path: string, name: string, document: Attributes): void {
    this.#documents.set(path === "" ? name : `${path}/${name}`, document);
  }

  #chunks(
    path: string,
    shape: readonly number[],
    chunks: readonly number[],
    values: ArrayLike<number>,
    type: "uint16" | "float64",
  ): void {
    const counts = shape.map((length, at) => Math.ceil(length / chunks[at]!));
    for (let number = 0; number < product(counts); number += 1) {
      const place = toPlace(number, counts);
      const chunk = type === "uint16" ? new Uint16Array(product(chunks)) : new Float64Array(product(chunks));
      for (let inside = 0; inside < chunk.length; inside += 1) {
        const at = toPlace(inside, chunks).map((offset, axis) => place[axis]! * chunks[axis]! + offset);
        if (at.every((index, axis) => index < shape[axis]!)) {
          chunk[inside] = values[at.reduce((sum, index, axis) => sum * shape[axis]! + index, 0)]!;
        }
      }
      const key = this.#version === 2 ? place.join(".") : ["c", ...place].join("/");
      this.#files.set(`${path}/${key}`, new Uint8Array(chunk.buffer));
    }
  }
}

const product = (numbers: readonly number[]) => numbers.reduce((result, each) => result * each, 1);
const toBytes = (document: unknown) => Buffer.from(JSON.stringify(document));

function toPlace(number: number, counts: readonly number[]): number[] {
  let left = number;
  return counts
    .toReversed()
    .map((count) => {
      const at = left % count;
      left = Math.floor(left / count);
      return at;
    })
    .toReversed();
}

const WEST = 500_000;
const NORTH = 5_000_000;
/** Sides of the area of a product, in pixels of 10 m. */
export const SIZE = 120;

/** Value of a band (its number) at a pixel of a resolution in metres; none is 0. */
export const valueOf = (band: number, metres: number, column: number, row: number): number =>
  1 + band * 20_000 + metres * 100 + ((column * 7 + row * 13) % 97);

function valuesOf(band: number, metres: number): Uint16Array {
  const side = (SIZE * 10) / metres;
  return Uint16Array.from({ length: side * side }, (_, at) => valueOf(band, metres, at % side, Math.floor(at / side)));
}

/** A product as ESA's archive has them (EOPF): Zarr 2, consolidated at the root, a group for each resolution, coordinates in each. */
export function makeEopfProduct(folder: string, shiftOf60 = 0): void {
  const writer = new ZarrWriter(2);
  writer.group("", {
    stac_discovery: { type: "Feature", properties: { "proj:code": "EPSG:32633" } },
    other_metadata: { horizontal_CRS_code: "EPSG:32633" },
  });
  const addGrid = (group: string, metres: number, bands: Readonly<Record<string, number>>, shift = 0) => {
    const side = (SIZE * 10) / metres;
    const list = (from: number, step: number) =>
      Float64Array.from({ length: side }, (_, at) => from + step * (at + 0.5));
    const axis = { type: "float64", shape: [side], fill: null } as const;
    writer.group(group);
    writer.array(`${group}/x`, { ...axis, dimensions: ["x"], values: list(WEST + shift, metres) });
    writer.array(`${group}/y`, { ...axis, dimensions: ["y"], values: list(NORTH, -metres) });
    for (const [name, band] of Object.entries(bands)) {
      const values = valuesOf(band, metres);
      values[0] = 0;
      writer.array(`${group}/${name}`, {
        shape: [side, side],
        chunks: [Math.ceil(side / 2), Math.ceil(side / 3)],
        dimensions: ["y", "x"],
        values,
        attributes: { scale_factor: 0.0001, add_offset: -0.1 },
      });
    }
  };
  for (const group of ["measurements", "measurements/reflectance", "conditions", "conditions/mask"]) {
    writer.group(group);
  }
  addGrid("measurements/reflectance/r10m", 10, { b02: 0, b03: 1 });
  addGrid("measurements/reflectance/r20m", 20, { b02: 0, b05: 2 });
  addGrid("measurements/reflectance/r60m", 60, { b01: 3, b05: 2 }, shiftOf60);
  // More values than what was measured.
  addGrid("conditions/mask/r10m", 10, { m1: 0, m2: 1, m3: 2 });
  writer.group("conditions/meteorology");
  const axis = { type: "float64", shape: [3], fill: null } as const;
  const longitudes = { dimensions: ["longitude"], attributes: { units: "degrees_east" }, values: [15, 15.1, 15.2] };
  const latitudes = { dimensions: ["latitude"], attributes: { units: "degrees_north" }, values: [45, 44.9, 44.8] };
  writer.array("conditions/meteorology/longitude", { ...axis, ...longitudes });
  writer.array("conditions/meteorology/latitude", { ...axis, ...latitudes });
  writer.array("conditions/meteorology/t2m", {
    shape: [3, 3],
    dimensions: ["latitude", "longitude"],
    values: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  });
  writer.write(folder, true);
}

/** How the levels of a GeoZarr pyramid say where they are. */
export type SpatialWay = "layout" | "groups" | "nodes" | "bbox" | "coordinates";

/** A pyramid of three levels by the GeoZarr conventions: Zarr 3, without coordinates but where they are the way. */
export function makeGeoZarr(
  folder: string,
  {
    way = "layout",
    consolidated = true,
    layout,
    shiftOf40 = 0,
  }: { way?: SpatialWay; consolidated?: boolean; layout?: unknown; shiftOf40?: number } = {},
): void {
  const writer = new ZarrWriter(3);
  const transformOf = (metres: number) => {
    const half = way === "nodes" ? metres / 2 : 0;
    const shift = metres === 40 ? shiftOf40 : 0;
    return [metres, 0, WEST + half + shift, 0, -metres, NORTH - half];
  };
  const levels = [10, 20, 40].map((metres, at) => ({
    asset: String(at),
    ...(at > 0 && { derived_from: String(at - 1), transform: { scale: [2, 2] } }),
    ...(way === "layout" && { "spatial:transform": transformOf(metres) }),
  }));
  writer.group("", {
    zarr_conventions: [{ name: "multiscales" }, { name: "spatial:" }, { name: "proj:" }],
    multiscales: { layout: layout ?? levels },
    "spatial:dimensions": ["row", "column"],
    "proj:code": "EPSG:32633",
    ...(way === "bbox" && { "spatial:bbox": [WEST, NORTH - SIZE * 10, WEST + SIZE * 10, NORTH] }),
  });
  for (const [at, metres] of [10, 20, 40].entries()) {
    const said = {
      "spatial:transform": transformOf(metres),
      ...(way === "nodes" && { "spatial:registration": "node" }),
    };
    writer.group(String(at), way === "groups" || way === "nodes" ? said : {});
    const side = (SIZE * 10) / metres;
    if (way === "coordinates") {
      const [a, , c, , e, f] = transformOf(metres) as [number, number, number, number, number, number];
      for (const [name, from, step] of [
        ["column", c, a],
        ["row", f, e],
      ] as const) {
        const values = Float64Array.from({ length: side }, (_, index) => from + step * (index + 0.5));
        writer.array(`${at}/${name}`, { shape: [side], dimensions: [name], values, type: "float64" });
      }
    }
    for (const [band, name] of ["red", "nir"].entries()) {
      const values = valuesOf(band, metres);
      writer.array(`${at}/${name}`, { shape: [side, side], chunks: [40, 40], dimensions: ["row", "column"], values });
    }
  }
  writer.write(folder, consolidated);
}
