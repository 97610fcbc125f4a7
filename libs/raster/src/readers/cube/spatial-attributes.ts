import type { Affine } from "../raster.ts";
import { type CubeVariable, folderOf, shortName, toText } from "./cube.ts";
import { recordOf } from "./record-of.ts";

type Attributes = Readonly<Record<string, unknown>>;

/** Levels of a pyramid that are looked at. */
const MAX_LEVELS = 40;

/** A level of a pyramid: the group that lists it, and its own attributes (GeoZarr conventions, `multiscales` 0.1). */
interface LevelEntry {
  /** From the root of the whole: a group, or an array. */
  readonly path: string;
  readonly attributes: Attributes;
}

/** The levels that a group above a variable lists, the variable's own among them; none where it is in no pyramid. */
export function listLevels(variable: CubeVariable): readonly LevelEntry[] {
  for (const { path, attributes } of variable.groups ?? []) {
    const layout = recordOf(attributes["multiscales"])?.["layout"];
    const entries = (Array.isArray(layout) ? (layout as readonly unknown[]).slice(0, MAX_LEVELS) : []).flatMap(
      (entry) => {
        const own = recordOf(entry);
        const asset = toText(own?.["asset"])?.replace(/^(\.?\/)+|\/+$/g, "");
        return own === undefined || !asset ? [] : [{ path: path === "" ? asset : `${path}/${asset}`, attributes: own }];
      },
    );
    if (entries.some((entry) => isOf(entry, variable))) {
      return entries;
    }
  }
  return [];
}

/** Path of a variable from the root of the whole. */
export function pathOf({ name, groups }: CubeVariable): string {
  const folder = groups?.[0]?.path ?? folderOf(name);
  return folder === "" ? shortName(name) : `${folder}/${shortName(name)}`;
}

const isOf = ({ path }: LevelEntry, variable: CubeVariable) =>
  path === pathOf(variable) || path === folderOf(pathOf(variable));

/**
 * Names of the dimensions y and x, in this order, where attributes say them (`spatial:dimensions`).
 * @returns undefined where nothing does
 */
export function findSpatialDimensions(variable: CubeVariable): readonly [y: string, x: string] | undefined {
  for (const { attributes } of [variable, ...(variable.groups ?? [])]) {
    const said = attributes["spatial:dimensions"];
    const [y, x] = Array.isArray(said) ? (said as readonly unknown[]).slice(-2) : [];
    if (typeof y === "string" && typeof x === "string") {
      return [y, x];
    }
  }
  return undefined;
}

/**
 * The transform of a variable's grid by the GeoZarr conventions (`spatial:` 0.1): `spatial:transform` of the array, of its level or of its
 * group, else `spatial:bbox` of one of them or of the pyramid.
 */
export function findSpatialTransform(variable: CubeVariable, width: number, height: number): Affine | undefined {
  const level = listLevels(variable).find((entry) => isOf(entry, variable));
  const own = [variable.attributes, ...(level === undefined ? [] : [level.attributes])];
  const group = variable.groups?.[0]?.attributes;
  const near = [...own, ...(group === undefined ? [] : [group])];
  for (const attributes of near) {
    const transform = toAffine(attributes["spatial:transform"]);
    const type = toText(attributes["spatial:transform_type"]) ?? "affine";
    if (transform !== undefined && type === "affine") {
      return toCorner(transform, [attributes, ...near]);
    }
  }
  const pyramid = variable.groups?.find(({ attributes }) => attributes["multiscales"] !== undefined)?.attributes;
  for (const attributes of pyramid === undefined ? near : [...near, pyramid]) {
    const box = numbersOf(attributes["spatial:bbox"]);
    if (box?.length === 4) {
      const [left, bottom, right, top] = box as [number, number, number, number];
      return [(right - left) / width, 0, left, 0, (bottom - top) / height, top];
    }
  }
  return undefined;
}

/** `proj:transform`, as products of EOPF have it at arrays, and STAC at assets. */
export const findProjTransform = ({ attributes }: CubeVariable): Affine | undefined =>
  toAffine(attributes["proj:transform"]);

/** Where places are those of the middle of pixels, the corner is half a pixel away (`spatial:registration`). */
function toCorner([a, b, c, d, e, f]: Affine, said: readonly Attributes[]): Affine {
  const registration = said.map((attributes) => toText(attributes["spatial:registration"])).find(Boolean);
  return registration === "node" ? [a, b, c - (a + b) / 2, d, e, f - (d + e) / 2] : [a, b, c, d, e, f];
}

/** Six numbers, or nine of which the last three say nothing; none where a pixel would have no area. */
function toAffine(value: unknown): Affine | undefined {
  const numbers = numbersOf(value);
  if (numbers === undefined || (numbers.length !== 6 && numbers.length !== 9)) {
    return undefined;
  }
  const [a, b, c, d, e, f] = numbers as unknown as Affine;
  return a * e - b * d === 0 ? undefined : [a, b, c, d, e, f];
}

function numbersOf(value: unknown): readonly number[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "number" && Number.isFinite(each))
    ? (value as readonly number[])
    : undefined;
}
