import { toVariable } from "@swath/raster";
import type { StacAsset, StacItem } from "@swath/stac";

import type { LayerDimension } from "./layer.ts";

const MAX_VARIABLES = 200;
const MAX_VALUES = 2000;

/** Media types and endings of files with many variables. */
const CUBE_TYPES = /^application\/(x-)?(netcdf|hdf5?|zarr)\b|^application\/vnd[.+]zarr\b/i;
const CUBE_ENDINGS = /\.(nc4?|cdf|h5|hdf5|he5|zarr)\/?$|\.zarr(\/[^/.]+)+\/?$/i;
const ZARR_TYPES = /zarr/i;

export interface CubeVariable {
  /** In the file. */
  readonly name: string;
  /** As expressions call it: `<asset>_<variable>`. */
  readonly expression: string;
  readonly title: string;
  readonly unit: string | undefined;
  readonly type: string | undefined;
  /** Of a band: `red`, `nir08` (STAC EO extension). */
  readonly commonName?: string;
}

export function isCubeAsset({ type, href }: StacAsset): boolean {
  return type === undefined ? CUBE_ENDINGS.test(href) : CUBE_TYPES.test(type);
}

export const isZarrAsset = ({ type = "" }: StacAsset): boolean => ZARR_TYPES.test(type);

/**
 * The variables of an asset that the datacube extension describes, with the asset or for the whole item; of Zarr without them its bands:
 * products of EOPF call their arrays so.
 */
export function variablesOf(key: string, asset: StacAsset, item: StacItem): readonly CubeVariable[] {
  const variables = recordOf(asset["cube:variables"]) ?? recordOf(item.properties["cube:variables"]);
  if (variables === undefined) {
    return isZarrAsset(asset) ? bandsOf(key, asset) : [];
  }
  return Object.entries(variables)
    .slice(0, MAX_VARIABLES)
    .flatMap(([name, value]) => {
      const { type, dimensions, description, unit, data_type: dataType } = recordOf(value) ?? {};
      const isOnGrid = Array.isArray(dimensions) && dimensions.length >= 2;
      return isOnGrid && type !== "auxiliary"
        ? [
            {
              name,
              expression: toVariable(`${key}_${name}`),
              title: typeof description === "string" ? description.slice(0, 200) : name,
              unit: typeof unit === "string" ? unit : undefined,
              type: typeof dataType === "string" ? dataType : undefined,
            },
          ]
        : [];
    });
}

function bandsOf(key: string, asset: StacAsset): readonly CubeVariable[] {
  const said = asset["bands"] ?? asset["eo:bands"];
  const bands = Array.isArray(said) ? (said as readonly unknown[]).slice(0, MAX_VARIABLES) : [];
  return bands.flatMap((each): readonly CubeVariable[] => {
    const band = recordOf(each) ?? {};
    const name = textOf(band["name"]);
    const commonName = textOf(band["eo:common_name"] ?? band["common_name"]);
    if (name === undefined) {
      return [];
    }
    const title = textOf(band["description"])?.slice(0, 200) ?? name;
    return [
      {
        name,
        expression: toVariable(`${key}_${name}`),
        title,
        unit: textOf(band["unit"]),
        type: textOf(band["data_type"] ?? asset["data_type"]),
        ...(commonName !== undefined && { commonName }),
      },
    ];
  });
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** The dimensions beside x and y that the item, its assets or its collection describe. */
export function dimensionsOf(item: StacItem, collection: unknown): readonly LayerDimension[] {
  const found = [
    recordOf(recordOf(collection)?.["cube:dimensions"]),
    recordOf(item.properties["cube:dimensions"]),
    ...Object.values(item.assets).map((asset) => recordOf(asset["cube:dimensions"])),
  ];
  // What is nearer to the data is said better.
  const all: Record<string, unknown> = Object.assign({}, ...found);
  return Object.entries(all).flatMap(([name, value]) => {
    const { type, axis, values, extent, unit } = recordOf(value) ?? {};
    if (type === "bands" || (type === "spatial" && axis !== "z")) {
      return [];
    }
    const list = listOf(values).slice(0, MAX_VALUES);
    const provided = list.length > 0 ? list : listOf(extent);
    const kind = type === "temporal" ? "time" : type === "spatial" ? "elevation" : "other";
    // The newest of times, the first of anything else.
    const preset = kind === "time" ? provided.at(-1) : provided[0];
    return preset === undefined
      ? []
      : [{ name, kind, values: list, preset, ...(typeof unit === "string" && { unit }) } satisfies LayerDimension];
  });
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? (value as readonly unknown[]).flatMap((each) =>
        typeof each === "string" || typeof each === "number" ? [String(each)] : [],
      )
    : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
