import type { Raster } from "../readers/raster.ts";
import { createGeoreferencing } from "../warp/georeferencing.ts";
import { toLongitudeFrom } from "../warp/pixel-map.ts";
import { westernmostOf } from "../warp/read-grid.ts";
import { missingOf } from "../warp/pick-samples.ts";
import { createReproject } from "../warp/reproject.ts";
import type { BlockCache } from "../windows/block-cache.ts";
import { readWindow } from "../windows/read-window.ts";
import { chooseBands } from "./choose-bands.ts";
import { isUnscaled } from "./read-scene.ts";
import type { PointRequest } from "./requests.ts";

/** Values of all bands of the pixel at a point; null where there is nothing, `undefined` outside of the raster. */
export async function readPoint(
  raster: Raster,
  cache: BlockCache,
  { crs, x, y, unscale, ...selection }: PointRequest,
  signal: AbortSignal | undefined,
): Promise<readonly (number | null)[] | undefined> {
  const { info } = raster;
  const georeferencing = createGeoreferencing(info);
  const [xs, ys] = [Float64Array.of(x), Float64Array.of(y)];
  createReproject(crs, georeferencing.crs)(xs, ys);
  const west = georeferencing.crs.isGeographic ? westernmostOf(info.transform, info.width) : undefined;
  if (west !== undefined) {
    xs[0] = toLongitudeFrom(west, xs[0]!);
  }
  georeferencing.toPixels(xs, ys);
  const [column, row] = [Math.floor(xs[0]!), Math.floor(ys[0]!)];
  if (!(column >= 0 && column < info.width && row >= 0 && row < info.height)) {
    return undefined;
  }
  const bands = chooseBands(info.bands, selection);
  const window = await readWindow(raster, cache, { level: 0, x: column, y: row, width: 1, height: 1, bands }, signal);
  return window.planes.map((samples, at) => {
    const band = info.bands[bands[at]!]!;
    const { scale = 1, offset = 0 } = band;
    const value = samples[0]!;
    const exists = value !== missingOf(band) && !Number.isNaN(value) && window.mask?.[0] !== 0;
    return exists ? (isUnscaled(band, unscale) ? value * scale + offset : value) : null;
  });
}
