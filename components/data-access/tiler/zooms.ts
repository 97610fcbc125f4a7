import { type DescribedRaster, RasterError, type RasterPool, reprojectBbox, resolutionOf } from "@swath/raster";

import type { SceneTarget } from "./scene-target.ts";
import type { TileMatrixSet } from "../tiles/tile-matrix-sets.ts";

const TILE = 256;

/** From the level at which the whole raster is about a tile to the one at which its pixels are about as large as those of the tiles. */
export function zoomsOf(
  { info, bounds, crs }: DescribedRaster,
  set: TileMatrixSet,
): { minzoom: number; maxzoom: number } {
  const area = reprojectBbox(bounds, crs, set.crs);
  const resolution = findResolution(info, set);
  if (area === undefined || resolution === undefined) {
    return { minzoom: 0, maxzoom: set.levels - 1 };
  }
  const shorter = Math.min(area[2] - area[0], area[3] - area[1]) / resolution;
  let halvings = 0;
  while (Math.floor(shorter / 2 ** halvings) > TILE) {
    halvings += 1;
  }
  const levelOf = (cell: number) => Math.max(0, Math.min(set.levels - 1, Math.round(Math.log2(set.cellSize / cell))));
  return { minzoom: levelOf(resolution * 2 ** halvings), maxzoom: levelOf(resolution) };
}

/** `undefined` where the set's system cannot show the raster. */
function findResolution(info: DescribedRaster["info"], set: TileMatrixSet): number | undefined {
  try {
    return resolutionOf(info, set.crs).x;
  } catch (error) {
    if (error instanceof RasterError) {
      return undefined;
    }
    throw error;
  }
}

/** Files of the newest scene that are looked into. */
const MAX_FILES = 16;

/** The level at which the pixels of the newest scene's finest file are as large as those of the tiles. */
export async function findMaxZoom(
  target: Pick<SceneTarget, "findItems">,
  set: TileMatrixSet,
  pool: Pick<RasterPool, "describe">,
  signal: AbortSignal,
): Promise<number> {
  const [item] = await target.findItems(undefined, 1);
  const described = await Promise.allSettled(
    Object.values(item?.scene.assets ?? {})
      .slice(0, MAX_FILES)
      .map(async ({ location }) => zoomsOf(await pool.describe(location, signal), set).maxzoom),
  );
  const levels = described.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  return levels.length === 0 ? set.levels - 1 : Math.max(...levels);
}
