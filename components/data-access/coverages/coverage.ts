import { type BandInfo, type DescribedRaster, type Grid, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";

import { type DataAccessContext, callerOf } from "../http/context.ts";
import type { Caller, Layer, LayerItem } from "../layers/layer.ts";
import type { NativePixels } from "./subset.ts";

/** A band of a coverage, by the name that expressions and RANGESUBSET call it. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly band: BandInfo;
}

/** A layer as values: one item, or the mosaic of a collection or search. */
export interface Coverage {
  readonly layer: Layer;
  readonly fields: readonly Field[];
  /** The pixels of its finest file; of mosaics in degrees, of that size. */
  readonly grid: Grid;
  /** The pixels of its finest file, in which a mosaic is delivered where their system is asked for. */
  readonly pixels?: NativePixels;
  readonly format: string;
}

const METRES_PER_DEGREE = 111_320;
const MAX_FIELDS = 64;

/** Describes a layer by the files of its newest item. @throws {Problem} 404 where it has none that can be read */
export async function describeCoverage(
  { pool, layers }: DataAccessContext,
  layer: Layer,
  caller: Caller,
  signal: AbortSignal,
): Promise<Coverage> {
  const [item] = await layers.findItems(layer, { limit: 1 }, caller, signal);
  const assets = item === undefined ? [] : await describeAssets(item, pool, signal);
  const [finest] = assets.toSorted((a, b) => resolutionOf(a.described) - resolutionOf(b.described));
  if (finest === undefined) {
    throw new Problem(404, `"${layer.id.slice(0, 100)}" has no files that can be read.`);
  }
  const fields = assets.flatMap(({ key, title, described: { info } }) =>
    info.bands.map((band, at): Field => {
      const own = info.bands.length === 1 ? key : `${key}_b${at + 1}`;
      return {
        name: own,
        title: [title ?? key, band.description, info.bands.length === 1 ? undefined : String(at + 1)]
          .filter((text) => text !== undefined && text !== "")
          .join(" "),
        band,
      };
    }),
  );
  const pixels = nativePixels(finest.described);
  return {
    layer,
    ...(pixels !== undefined && { pixels }),
    fields: fields.slice(0, MAX_FIELDS),
    grid: layer.kind === "item" ? nativeGrid(finest.described) : mosaicGrid(layer, finest.described),
    format: "image/tiff",
  };
}

/** A layer by its name, as a coverage. @throws {Problem} 404 */
export async function findCoverage(
  context: DataAccessContext,
  id: string,
  request: Parameters<typeof callerOf>[0],
  signal: AbortSignal,
): Promise<Coverage> {
  const layer = await context.layers.find(id, callerOf(request), signal);
  if (layer === undefined) {
    throw new Problem(404, `There is no coverage "${id.slice(0, 100)}".`);
  }
  return describeCoverage(context, layer, callerOf(request), signal);
}

interface DescribedAsset {
  readonly key: string;
  readonly title: string | undefined;
  readonly described: DescribedRaster;
}

/** Files that cannot be read, or are not placed, are no part of a coverage; one of them must not take the others away. */
async function describeAssets(
  { scene, titles }: LayerItem,
  pool: DataAccessContext["pool"],
  signal: AbortSignal,
): Promise<readonly DescribedAsset[]> {
  const found = await Promise.allSettled(
    Object.entries(scene.assets).map(async ([key, { location }]) => ({
      key,
      title: titles[key],
      described: await pool.describe(location, signal),
    })),
  );
  const assets = found.flatMap((each) =>
    each.status === "fulfilled" && each.value.described.crs.local === undefined ? [each.value] : [],
  );
  const [failed] = found;
  if (assets.length === 0 && failed?.status === "rejected") {
    throw failed.reason as Error;
  }
  return assets;
}

/** Metres a pixel, about. */
function resolutionOf({ info, bounds, crs }: DescribedRaster): number {
  const size = Math.hypot(bounds[2] - bounds[0], bounds[3] - bounds[1]) / Math.hypot(info.width, info.height);
  return size * (crs.isGeographic ? METRES_PER_DEGREE : crs.unit);
}

const nativeGrid = ({ info, bounds, crs }: DescribedRaster): Grid => ({
  crs,
  bbox: bounds,
  width: info.width,
  height: info.height,
});

function nativePixels({ info: { transform }, crs }: DescribedRaster): NativePixels | undefined {
  return transform === undefined || transform[1] !== 0 || transform[3] !== 0
    ? undefined
    : {
        crs,
        size: [Math.abs(transform[0]), Math.abs(transform[4])],
        corner: [transform[2], transform[5]],
      };
}

function mosaicGrid({ bbox: [west, south, east, north] }: Layer, described: DescribedRaster): Grid {
  const size = resolutionOf(described) / METRES_PER_DEGREE;
  const right = east < west ? 180 : east;
  const left = east < west ? -180 : west;
  const [width, height] = [
    Math.max(1, Math.round((right - left) / size)),
    Math.max(1, Math.round((north - south) / size)),
  ];
  return { crs: parseCrs("EPSG:4326"), bbox: [left, south, left + width * size, south + height * size], width, height };
}
