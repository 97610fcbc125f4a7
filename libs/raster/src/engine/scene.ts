import { invalidRequest } from "../errors.ts";
import { compileExpression } from "../render/expression.ts";
import type { RasterInfo } from "../readers/raster.ts";
import type { SourceLocation } from "../sources/source.ts";

/** A raster of a scene, and what its catalogue entry knows better than the file. */
export interface SceneAsset {
  readonly location: SourceLocation;
  /** Names of its bands in order. */
  readonly bandNames?: readonly string[];
  readonly nodata?: number;
  /** Of a file of many variables, the one that is meant; its first one when left out. */
  readonly variable?: string;
  /** Coordinates in the dimensions beside x and y, by their names: the nearest are taken. Of an interval (`a/b`), the last within. */
  readonly position?: Readonly<Record<string, string>>;
}

/** What was seen at one time: a file, or an item whose bands are in several files. Keys are what expressions call the assets. */
export interface Scene {
  readonly assets: Readonly<Record<string, SceneAsset>>;
}

export interface BandReference {
  readonly asset: string;
  /** From 0. */
  readonly band: number;
}

/**
 * Which band a name in an expression means: `b2` of a scene of one file, `red` or `red_b2` of an item, or a band's own name.
 * @throws {RasterError} `invalid-request` with the names there are
 */
export function findBand(name: string, { assets }: Scene): BandReference {
  const keys = Object.keys(assets);
  const byName = new Map(keys.map((key) => [toVariable(key), key]));
  const whole = byName.get(name);
  if (whole !== undefined) {
    return { asset: whole, band: 0 };
  }
  const [, prefix, number] = /^(?:(\w+)_)?b(\d+)$/.exec(name) ?? [];
  const asset = prefix === undefined ? (keys.length === 1 ? keys[0] : undefined) : byName.get(prefix);
  if (asset !== undefined && number !== undefined && Number(number) >= 1) {
    return { asset, band: Number(number) - 1 };
  }
  for (const [key, { bandNames = [] }] of Object.entries(assets)) {
    const band = bandNames.findIndex((each) => toVariable(each) === name);
    if (band >= 0) {
      return { asset: key, band };
    }
  }
  throw invalidRequest(
    `There is no band "${name.slice(0, 50)}"; ${keys.length === 1 ? "bands are b1, b2, …" : `assets are ${[...byName.keys()].slice(0, 50).join(", ")}, their bands <asset>_b1, …`}`,
  );
}

/** The first asset that the expressions read; the scene's first one where they read none. */
export function firstAssetOf(scene: Scene, expressions: readonly string[]): SceneAsset | undefined {
  const [name] = expressions.flatMap((text) => compileExpression(text).variables);
  return name === undefined ? Object.values(scene.assets)[0] : scene.assets[findBand(name, scene).asset];
}

/** Names in expressions have letters, digits and underscores. */
export function toVariable(name: string): string {
  const replaced = name.replace(/\W/g, "_");
  return /^\d/.test(replaced) ? `_${replaced}` : replaced;
}

/** What is shown of a file when nothing is said: its colours, or its first band. */
export function defaultExpressions({ bands }: RasterInfo): readonly string[] {
  // Variables and times of a cube are no colours.
  if (bands[0]?.name !== undefined) {
    return ["b1"];
  }
  const red = bands.findIndex(({ color }) => color === "red");
  return red >= 0 && bands.length >= red + 3
    ? [`b${red + 1}`, `b${red + 2}`, `b${red + 3}`]
    : bands.filter(({ color }) => color !== "alpha").length >= 3
      ? ["b1", "b2", "b3"]
      : ["b1"];
}
