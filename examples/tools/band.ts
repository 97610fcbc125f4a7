import { fromFile } from "geotiff";

import { ToolError } from "./errors.ts";
import type { Grid } from "./grid.ts";
import { type Scene, assetPath } from "./scene.ts";

/** Pixels of one band, and how they become physical values. */
export interface Band {
  readonly grid: Grid;
  readonly data: ArrayLike<number>;
  /** True for pixels without a value. */
  readonly isEmpty: (value: number) => boolean;
  /**
   * What is added to a stored number before bands are compared: the offset in stored numbers (offset ÷ scale), because the
   * scale cancels out in ratios of bands.
   */
  readonly shift: number;
}

/** Reads the first band of an asset. */
export async function readBand(scene: Scene, asset: string): Promise<Band> {
  const { grid, data, noData } = await readRaster(assetPath(scene, asset));
  const bands = scene.item.assets[asset]?.["raster:bands"];
  const { scale = 1, offset = 0 } =
    (Array.isArray(bands) ? (bands[0] as { scale?: number; offset?: number } | undefined) : undefined) ?? {};
  return {
    grid,
    data,
    isEmpty: (value) => value === noData || Number.isNaN(value),
    shift: offset === 0 ? 0 : offset / scale,
  };
}

/** Reads the first band of a GeoTIFF. */
export async function readRaster(
  path: string,
): Promise<{ grid: Grid; data: ArrayLike<number>; noData: number | null }> {
  const tiff = await fromFile(path);
  try {
    const image = await tiff.getImage();
    const [west = 0, north = 0] = image.getOrigin();
    const [pixel = 0, down = 0] = image.getResolution();
    const keys = image.getGeoKeys() as { ProjectedCSTypeGeoKey?: number; GeographicTypeGeoKey?: number } | null;
    const epsg = keys?.ProjectedCSTypeGeoKey ?? keys?.GeographicTypeGeoKey;
    if (epsg === undefined || epsg === 32_767) {
      throw new ToolError(`${path} does not say its reference system by an EPSG code`);
    }
    if (Math.abs(pixel + down) > 1e-9 * pixel) {
      throw new ToolError(`${path} has pixels of ${pixel} by ${-down}; square pixels, north up, are needed`);
    }
    const data = (await image.readRasters({ samples: [0], interleave: true })) as unknown as ArrayLike<number>;
    return {
      grid: { width: image.getWidth(), height: image.getHeight(), west, north, pixel, epsg },
      data,
      noData: image.getGDALNoData(),
    };
  } finally {
    await tiff.close();
  }
}
