import { type DescribedRaster, type RasterPool, reprojectBbox } from "@swath/raster";

import type { SceneTarget } from "./scene-target.ts";
import type { TileMatrixSet } from "../tiles/tile-matrix-sets.ts";

/** From the level at which the whole raster is about a tile to the one at which its pixels are as large as those of the tiles. */
export function zoomsOf(
  { info, bounds, crs }: DescribedRaster,
  set: TileMatrixSet,
): { minzoom: number; maxzoom: number } {
  const area = reprojectBbox(bounds, crs, set.crs);
  if (area === undefined) {
    return { minzoom: 0, maxzoom: set.levels - 1 };
  }
  const span = Math.max(area[2] - area[0], area[3] - area[1]);
  const resolution = Math.hypot(area[2] - area[0], area[3] - area[1]) / Math.hypot(info.width, info.height);
  const clamp = (level: number) => Math.max(0, Math.min(set.levels - 1, level));
  const maxzoom = clamp(Math.round(Math.log2(set.cellSize / resolution)));
  return { minzoom: Math.min(maxzoom, clamp(Math.floor(Math.log2((set.cellSize * 256) / span)))), maxzoom };
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
