import { type RasterPool, compileExpression, defaultExpressions, listDataBands, toVariable } from "@swath/raster";
import { Problem } from "@swath/service";

import type { LayerItem } from "../layers/layer.ts";
import { type Query, listOf, one, parseBands, parseBoolean } from "./parameters.ts";

/** `assets=:all:`, as a name. */
const ALL_ASSETS = toVariable(":all:");

interface RequestedAsset {
  /** As expressions call it. */
  readonly name: string;
  /** Numbers of its bands, from 1; all when left out. */
  readonly bands?: readonly string[];
  /** Over its own bands, b1, b2, … */
  readonly expression?: string;
}

/**
 * What `assets` means, as expressions over the bands of the items: each band of each asset, in their order. `expression` is over them,
 * as b1, b2, …, or over names of assets. `undefined` where no asset is named.
 * @throws {Problem} 400 with the assets that there are
 */
export async function expandAssets(
  query: Query,
  items: readonly LayerItem[],
  pool: RasterPool,
  { isPicture, signal }: { readonly isPicture: boolean; readonly signal: AbortSignal },
): Promise<readonly string[] | undefined> {
  const assets = parseAssets(query).flatMap((asset) =>
    asset.name === ALL_ASSETS ? namesOf(items).map((name) => ({ ...asset, name })) : [asset],
  );
  const isFirstBand = parseBoolean(query, "asset_as_band") === true;
  if (assets.length === 0) {
    return undefined;
  }
  const whole = one(query["expression"]);
  const names: string[] = [];
  for (const { name, bands, expression } of assets) {
    const own = bands?.map((band) => `${name}_b${band}`) ?? (await listBands(name));
    names.push(...(expression === undefined ? own : renameBands(expression, own)));
  }
  const chosen = listOf(query["bidx"]).flatMap(parseBands);
  if (chosen.length > 0) {
    return chosen.flatMap((band) => renameBands(`b${band}`, names));
  }
  return whole === undefined ? names : renameBands(whole, names);

  async function listBands(name: string): Promise<readonly string[]> {
    const asset = items.find(({ scene }) => scene.assets[name] !== undefined)?.scene.assets[name];
    if (asset === undefined) {
      return [requireKnown(name, items)];
    }
    if (isFirstBand) {
      return [name];
    }
    const { info } = await pool.describe(asset.location, signal);
    const isColors = isPicture && whole === undefined && query["bidx"] === undefined && assets.length === 1;
    const isCube = info.bands[0]?.name !== undefined;
    const own = isCube ? ["b1"] : isColors ? defaultExpressions(info) : listDataBands(info.bands, asset);
    return isCube ? [name] : own.map((band) => `${name}_${band}`);
  }
}

/** Assets that a request for information names: all when it names none, or `:all:`. */
export function parseAssetNames(query: Query, item: LayerItem | undefined): readonly string[] | undefined {
  const names = listOf(query["assets"]).flatMap((text) => text.split(","));
  return names.length === 0 || names.includes(":all:") || item === undefined ? undefined : names;
}

const namesOf = (items: readonly LayerItem[]): readonly string[] => [
  ...new Set(items.flatMap(({ scene }) => Object.keys(scene.assets))),
];

function requireKnown(name: string, items: readonly LayerItem[]): string {
  const known = namesOf(items);
  const isBand = items.some(({ scene }) =>
    Object.values(scene.assets).some(({ bandNames = [] }) => bandNames.some((each) => toVariable(each) === name)),
  );
  if (known.length > 0 && !isBand) {
    throw new Problem(400, `There is no asset "${name.slice(0, 50)}"; there are ${known.slice(0, 50).join(", ")}.`);
  }
  return name;
}

/** `assets=red`, `assets=red,nir`, `assets=visual|indexes=1,2`, `asset_bidx=visual|1,2`, `asset_expression=visual|b1+b2`. */
function parseAssets(query: Query): readonly RequestedAsset[] {
  const texts = listOf(query["assets"]).flatMap((text) => (text.includes("|") ? [text] : text.split(",")));
  const chosen = (parameter: string) => new Map(listOf(query[parameter]).map((text) => splitOnce(text, "|")));
  const [bidx, expressions] = [chosen("asset_bidx"), chosen("asset_expression")];
  return texts
    .filter((text) => text !== "")
    .map((text): RequestedAsset => {
      const [key, options] = splitOnce(text, "|");
      const own = new Map(options.split("|").flatMap((option) => (option === "" ? [] : [splitOnce(option, "=")])));
      const unknown = [...own.keys()].find((option) => !["indexes", "bidx", "expression"].includes(option));
      if (unknown !== undefined) {
        throw new Problem(400, `An asset has the options indexes, bidx and expression, not "${unknown.slice(0, 50)}".`);
      }
      const bands = own.get("indexes") ?? own.get("bidx") ?? bidx.get(key);
      const expression = own.get("expression") ?? expressions.get(key);
      return {
        name: toVariable(key),
        ...(bands !== undefined && { bands: parseBands(bands) }),
        ...(expression !== undefined && { expression }),
      };
    });
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Expressions over b1, b2, … as those over the bands of that number. Names of assets stay. */
function renameBands(text: string, bands: readonly string[]): readonly string[] {
  return text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const missing = compileExpression(part).variables.find(
        (name) => /^b\d+$/.test(name) && bands[Number(name.slice(1)) - 1] === undefined,
      );
      if (missing !== undefined) {
        throw new Problem(
          400,
          `There is no ${missing}: the assets have ${bands.length} bands, b1 to b${bands.length}.`,
        );
      }
      return part.replaceAll(/(?<!\w)b(\d+)(?!\w)/g, (_, number: string) => bands[Number(number) - 1]!);
    });
}
