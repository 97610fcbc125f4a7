import { ToolError } from "./errors.ts";
import { type BandData, readRaster } from "./raster.ts";
import { type Scene, assetPath } from "./scene.ts";

/** Pixels of one band, and how they become physical values. */
export interface Band extends BandData {
  /**
   * What is added to a stored number before bands are compared: the offset in stored numbers (offset ÷ scale), because the
   * scale cancels out in ratios of bands.
   */
  readonly shift: number;
}

/** What STAC says of a band: the extensions eo and raster of 1.0, or `bands` of 1.1. */
interface BandFacts {
  readonly name?: string;
  readonly common_name?: string;
  readonly "eo:common_name"?: string;
  readonly scale?: number;
  readonly offset?: number;
  readonly "raster:scale"?: number;
  readonly "raster:offset"?: number;
}

/**
 * Reads a band of an asset: the only one of `red`, or of an asset with several one of them, by its number or name, `visual#1`,
 * `visual#nir`.
 */
export async function readBand(scene: Scene, name: string): Promise<Band> {
  const [asset = "", requested] = name.split("#", 2);
  const facts = factsOf(scene, asset);
  const band = await readRaster(assetPath(scene, asset), (count) => chooseBand(name, requested, count, facts));
  const index = requested === undefined ? 0 : chooseBand(name, requested, Number.POSITIVE_INFINITY, facts);
  const known = facts[index] ?? {};
  const [scale, offset] = [known.scale ?? known["raster:scale"] ?? 1, known.offset ?? known["raster:offset"] ?? 0];
  return { ...band, shift: offset === 0 ? 0 : offset / scale };
}

/** What is known of the bands of an asset, in their order. */
function factsOf(scene: Scene, asset: string): readonly BandFacts[] {
  const {
    "raster:bands": raster = [],
    "eo:bands": eo = [],
    bands = [],
  } = (scene.item.assets[asset] ?? {}) as Readonly<Record<string, readonly BandFacts[] | undefined>>;
  const count = Math.max(raster.length, eo.length, bands.length);
  return Array.from({ length: count }, (_, index) => ({ ...eo[index], ...raster[index], ...bands[index] }));
}

/** The place of a band that is wanted by its number or name. @throws {ToolError} */
function chooseBand(name: string, requested: string | undefined, count: number, facts: readonly BandFacts[]): number {
  const names = facts.map(
    (band, index) => band.name ?? band["eo:common_name"] ?? band.common_name ?? String(index + 1),
  );
  const allowed = `${name.split("#", 1)[0] ?? ""}#${names.length > 1 ? names.join(", #") : `1 to #${count}`}`;
  if (requested === undefined) {
    if (count > 1) {
      throw new ToolError(`${name} has ${count} bands; say which: ${allowed}`);
    }
    return 0;
  }
  const index = /^\d+$/.test(requested)
    ? Number(requested) - 1
    : facts.findIndex((band) => [band.name, band.common_name, band["eo:common_name"]].includes(requested));
  if (index < 0 || index >= count) {
    throw new ToolError(`${name}: there is no such band; allowed: ${allowed}`);
  }
  return index;
}
