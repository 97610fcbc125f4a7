import { type Attribute, Dataset, type File, Group } from "h5wasm";

import { MAX_CUBE_OBJECTS } from "../../limits.ts";
import type { CubeVariable } from "../cube/cube.ts";
import type { SampleType } from "../raster.ts";
import type { Hdf5Contents } from "./messages.ts";

const MAX_DEPTH = 16;
const MAX_ATTRIBUTES = 200;
const MAX_ATTRIBUTE_VALUES = 64;
/** Filters of the library: deflate, shuffle, checksums, n-bit, scale and offset. Others need plug-ins. */
const FILTERS: ReadonlySet<number> = new Set([1, 2, 3, 5, 6]);
const INTEGER = 0;
const FLOAT = 1;

/** The variables of a file with what is needed to know where and what they are. */
export function listContents(file: File): Hdf5Contents {
  const variables: CubeVariable[] = [];
  const missingFilters = new Set<string>();
  const waiting: { readonly group: Group; readonly path: string; readonly depth: number }[] = [
    { group: file, path: "", depth: 0 },
  ];
  let objects = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { group, path, depth } = next;
    for (const name of group.keys()) {
      objects += 1;
      if (objects > MAX_CUBE_OBJECTS) {
        throw new Error("the file has more groups and variables than are read");
      }
      // Links out of the file lead nowhere; those that come back to a group above end at the depth that is allowed.
      const entity = group.get(name);
      if (entity instanceof Group && depth < MAX_DEPTH) {
        waiting.push({ group: entity, path: `${path}${name}/`, depth: depth + 1 });
      } else if (entity instanceof Dataset) {
        const variable = toVariable(entity, `${path}${name}`, missingFilters);
        if (variable !== undefined) {
          variables.push(variable);
        }
      }
    }
  }
  const attributes = readAttributes(file);
  const isNetcdf =
    attributes["_NCProperties"] !== undefined ||
    attributes["Conventions"] !== undefined ||
    variables.some((variable) => variable.attributes["_Netcdf4Dimid"] !== undefined);
  return { isNetcdf, attributes, variables, missingFilters: [...missingFilters] };
}

function toVariable(dataset: Dataset, name: string, missing: Set<string>): CubeVariable | undefined {
  const { shape, metadata, filters } = dataset;
  const type = toType(metadata);
  if (shape === null || type === undefined) {
    // Text and the like may still say in which system the others are.
    const attributes = readAttributes(dataset);
    return Object.keys(attributes).length === 0
      ? undefined
      : { name, type: "uint8", shape: [], dimensions: [], attributes, compression: "none" };
  }
  const unknown = filters.filter(({ id }) => !FILTERS.has(id));
  if (unknown.length > 0) {
    unknown.forEach((filter) => missing.add(filter.name === "" ? String(filter.id) : filter.name.slice(0, 40)));
    return undefined;
  }
  const { chunks } = metadata;
  return {
    name,
    type,
    shape,
    ...(chunks !== null && { chunks }),
    dimensions: shape.map((length, at) => toDimension(dataset, name, at, length)),
    attributes: readAttributes(dataset),
    compression: filters.some(({ id }) => id === 1) ? "deflate" : "none",
  };
}

/** The scale of a dimension, which is a variable as well; a variable that is one is its own. */
function toDimension(dataset: Dataset, name: string, at: number, length: number): string {
  try {
    const [scale] = dataset.get_attached_scales(at);
    if (scale !== undefined) {
      return scale.replace(/^\/+/, "");
    }
    if (dataset.shape?.length === 1 && dataset.get_scale_name() !== null) {
      return name;
    }
    const label = dataset.get_dimension_labels()[at];
    if (label !== undefined && label !== null && label !== "") {
      return label;
    }
  } catch {
    // A scale that cannot be followed leaves the dimension without coordinates.
  }
  return `${name}/dimension-${at}-${length}`;
}

function toType({ type, size, signed }: Dataset["metadata"]): SampleType | undefined {
  if (type === FLOAT) {
    return size === 4 ? "float32" : size === 8 ? "float64" : undefined;
  }
  if (type !== INTEGER) {
    return undefined;
  }
  return size === 1
    ? signed
      ? "int8"
      : "uint8"
    : size === 2
      ? signed
        ? "int16"
        : "uint16"
      : size === 4
        ? signed
          ? "int32"
          : "uint32"
        : size === 8
          ? "float64"
          : undefined;
}

/** Short attributes: numbers, texts, lists of them. */
function readAttributes({ attrs }: { readonly attrs: Readonly<Record<string, Attribute>> }): Record<string, unknown> {
  const found: [string, unknown][] = [];
  for (const [name, attribute] of Object.entries(attrs).slice(0, MAX_ATTRIBUTES)) {
    const values = attribute.shape?.reduce((product, length) => product * length, 1) ?? 0;
    if (
      values >= 1 &&
      values <= MAX_ATTRIBUTE_VALUES &&
      attribute.metadata.type !== 7 &&
      attribute.metadata.type !== 9
    ) {
      try {
        found.push([name, attribute.json_value]);
      } catch {
        // An attribute that cannot be read is as good as none.
      }
    }
  }
  return Object.fromEntries(found);
}
