import {
  type ColormapSpec,
  type ImageRequest,
  RESAMPLINGS,
  type Range,
  type Resampling,
  type SceneAsset,
  type StatisticsRequest,
  parseColormap,
} from "@swath/raster";
import { Problem } from "@swath/service";

import { parseColorFormula } from "./color-formula.ts";
import { parseSelection } from "./selection.ts";

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_CATEGORIES = 1000;
const MAX_COLORMAP_CHARACTERS = 100_000;

/** Parameters of a tiler's requests that say what is read and how it looks, by the names that its clients know. */
export function parseRender(query: Query): Partial<ImageRequest> {
  const expressions = parseExpressions(query);
  const rescale = listOf(query["rescale"]).flatMap(parseRange);
  const colormap = parseColors(query);
  const resampling =
    parseOneOf(query, "resampling", RESAMPLINGS) ?? parseOneOf(query, "resampling_method", RESAMPLINGS);
  const selection = parseSelection(one(query["pixel_selection"]))?.selection;
  const operations = parseColorFormula(one(query["color_formula"]));
  const hasMask = parseBoolean(query, "return_mask") !== false;
  const rendersData = rescale.length > 0 || colormap !== undefined || operations !== undefined;
  return {
    ...(expressions !== undefined && { expressions }),
    ...(rendersData && { rendersData }),
    ...(rescale.length > 0 && { rescale }),
    ...(colormap !== undefined && { colormap }),
    ...(resampling !== undefined && { resampling: resampling satisfies Resampling }),
    ...(selection !== undefined && { selection }),
    ...(operations !== undefined && { operations }),
    // Missing pixels are black, as in pictures that have no mask.
    ...(!hasMask && { background: [0, 0, 0] as const, hasMask }),
    ...parseUnscale(query),
  };
}

/** Whether scale and offset are applied; what the file means when nothing is said. */
export function parseUnscale(query: Query): { readonly unscale?: boolean } {
  const unscale = parseBoolean(query, "unscale");
  return unscale === undefined ? {} : { unscale };
}

export function parseExpressions(query: Query): readonly string[] | undefined {
  const expression = one(query["expression"]);
  if (expression !== undefined) {
    return expression
      .split(";")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
  const bands = listOf(query["bidx"]).flatMap(parseBands);
  return bands.length > 0 ? bands.map((band) => `b${band}`) : undefined;
}

/** `1` or `1,2`. @throws {Problem} 400 */
export function parseBands(text: string): readonly string[] {
  const bands = text.split(",");
  if (!bands.every((band) => /^[1-9]\d{0,3}$/.test(band))) {
    throw new Problem(400, `"${text.slice(0, 50)}" must be numbers of bands, from 1: bidx=2, asset_bidx=red|1,2.`);
  }
  return bands;
}

/** Which variable of a file of many is meant, and where: `variable=tas&sel=time=2020-01-01&sel=level=500`. */
export function parseCubeSelection(query: Query): Pick<SceneAsset, "variable" | "position"> {
  const variable = one(query["variable"]);
  const position = Object.fromEntries(
    listOf(query["sel"]).map((text) => {
      const [, name, value] = /^([^=]+)=(?:nearest::)?(.+)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) {
        throw new Problem(400, "sel must be a dimension and a coordinate in it: time=2020-01-01.");
      }
      return [name, value] as const;
    }),
  );
  return { ...(variable !== undefined && { variable }), ...(Object.keys(position).length > 0 && { position }) };
}

export function parseNodata(query: Query): number | undefined {
  const text = one(query["nodata"]);
  if (text === undefined) {
    return undefined;
  }
  const value = text.toLowerCase() === "nan" ? Number.NaN : Number(text);
  if (Number.isNaN(value) && text.toLowerCase() !== "nan") {
    throw new Problem(400, "nodata must be a number or nan.");
  }
  return value;
}

function parseColors(query: Query): ColormapSpec | undefined {
  const text = one(query["colormap"]);
  if (text !== undefined) {
    if (text.length > MAX_COLORMAP_CHARACTERS) {
      throw new Problem(400, `colormap must be at most ${MAX_COLORMAP_CHARACTERS} characters long.`);
    }
    try {
      return parseColormap(JSON.parse(text));
    } catch (error) {
      throw error instanceof SyntaxError ? new Problem(400, "colormap must be JSON.") : error;
    }
  }
  const name = one(query["colormap_name"]);
  return name === undefined ? undefined : { kind: "named", name };
}

/** `0,3000`, or several pairs in one. */
function parseRange(text: string): readonly Range[] {
  const numbers = text.split(",").map(Number);
  if (numbers.length < 2 || numbers.length % 2 !== 0 || numbers.some((value) => !Number.isFinite(value))) {
    throw new Problem(400, "rescale must be min,max.");
  }
  return Array.from({ length: numbers.length / 2 }, (_, at): Range => [numbers[at * 2]!, numbers[at * 2 + 1]!]);
}

export function parseCount(query: Query, name: string, maximum: number): number | undefined {
  const text = one(query[name]);
  if (text === undefined) {
    return undefined;
  }
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > maximum) {
    throw new Problem(400, `${name} must be a whole number from 1 to ${maximum}.`);
  }
  return value;
}

/** `p`: 2 and 98 when left out. @throws {Problem} 400 */
export function parsePercentiles(query: Query): Pick<StatisticsRequest, "percentiles"> {
  const texts = listOf(query["p"]);
  const percentiles = texts.map(Number);
  if (percentiles.some((value, at) => texts[at]?.trim() === "" || !(value >= 0 && value <= 100))) {
    throw new Problem(400, "p must be a percentile from 0 to 100.");
  }
  return percentiles.length === 0 ? {} : { percentiles };
}

/** `histogram_bins`, `histogram_range` as `min,max`, or `categorical` with values as `c`. @throws {Problem} 400 */
export function parseHistogram(query: Query): Pick<StatisticsRequest, "bins" | "range" | "categories"> {
  const values = listOf(query["c"]).flatMap((text) => text.split(",").map(Number));
  if (values.some((value) => !Number.isFinite(value)) || values.length > MAX_CATEGORIES) {
    throw new Problem(400, `c must be a number that is a category, given up to ${MAX_CATEGORIES} times.`);
  }
  if (parseBoolean(query, "categorical") === true) {
    return { categories: values };
  }
  const bins = parseCount(query, "histogram_bins", 1024);
  const text = one(query["histogram_range"]);
  const [least = Number.NaN, greatest = Number.NaN, ...more] = text?.split(",").map(Number) ?? [];
  if (text !== undefined && !(least < greatest && more.length === 0)) {
    throw new Problem(400, "histogram_range must be min,max.");
  }
  return { ...(bins !== undefined && { bins }), ...(text !== undefined && { range: [least, greatest] }) };
}

export function one(value: string | readonly string[] | undefined): string | undefined {
  const first = typeof value === "string" ? value : value?.[0];
  return first === "" ? undefined : first;
}

export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** Clients in Python write True and False. @throws {Problem} 400 */
export function parseBoolean(query: Query, name: string): boolean | undefined {
  const text = one(query[name])?.toLowerCase();
  if (text !== undefined && text !== "true" && text !== "false") {
    throw new Problem(400, `${name} must be true or false.`);
  }
  return text === undefined ? undefined : text === "true";
}

export function parseOneOf<T extends string>(query: Query, name: string, allowed: readonly T[]): T | undefined {
  const value = one(query[name]);
  if (value !== undefined && !allowed.includes(value as T)) {
    throw new Problem(400, `${name} must be one of ${allowed.join(", ")}.`);
  }
  return value as T | undefined;
}
