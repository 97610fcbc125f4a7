import type { Grid } from "../warp/grid.ts";
import { parseCrs } from "../warp/crs.ts";
import { createReproject } from "../warp/reproject.ts";
import type { Plane } from "./plane.ts";

export const TERRAIN_ALGORITHMS = ["hillshade", "slope"] as const;
export type TerrainAlgorithm = (typeof TERRAIN_ALGORITHMS)[number];

export interface TerrainOptions {
  readonly azimuth?: number;
  readonly altitude?: number;
  readonly zFactor?: number;
}

const METRES_PER_DEGREE = 111_320;

/** Shading (0 to 255) or slope in degrees of elevations in metres, by Horn's method as gdaldem. Pixels at the edge use themselves as neighbours. */
export function computeTerrain(
  plane: Plane,
  grid: Grid,
  algorithm: TerrainAlgorithm,
  { azimuth = 315, altitude = 45, zFactor = 1 }: TerrainOptions = {},
): Plane {
  const { width, height } = grid;
  const { cellX, cellY } = toCellSize(grid);
  const output = new Float32Array(width * height);
  const mask = plane.mask.slice();
  const { samples } = plane;
  const [zenith, direction] = [((90 - altitude) * Math.PI) / 180, ((360 - azimuth + 90) * Math.PI) / 180];
  const at = (x: number, y: number, fallback: number): number => {
    const index = Math.max(0, Math.min(height - 1, y)) * width + Math.max(0, Math.min(width - 1, x));
    return plane.mask[index] === 0 ? fallback : samples[index]!;
  };
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const index = y * width + x;
      if (mask[index] === 0) {
        continue;
      }
      const centre = samples[index]!;
      const [nw, n, ne] = [at(x - 1, y - 1, centre), at(x, y - 1, centre), at(x + 1, y - 1, centre)];
      const [w, e] = [at(x - 1, y, centre), at(x + 1, y, centre)];
      const [sw, s, se] = [at(x - 1, y + 1, centre), at(x, y + 1, centre), at(x + 1, y + 1, centre)];
      const dx = ((ne + 2 * e + se - nw - 2 * w - sw) * zFactor) / (8 * cellX);
      const dy = ((sw + 2 * s + se - nw - 2 * n - ne) * zFactor) / (8 * cellY);
      const slope = Math.atan(Math.hypot(dx, dy));
      if (algorithm === "slope") {
        output[index] = (slope * 180) / Math.PI;
        continue;
      }
      const aspect = Math.atan2(dy, -dx);
      const light =
        Math.cos(zenith) * Math.cos(slope) + Math.sin(zenith) * Math.sin(slope) * Math.cos(direction - aspect);
      // 1 is the darkest: 0 is left for what is not there.
      output[index] = Math.max(1, 1 + 254 * light);
    }
  }
  return { samples: output, mask, type: "float32" };
}

/** Metres between pixel centres in the middle of the grid. */
function toCellSize({ crs, bbox, width, height }: Grid): { cellX: number; cellY: number } {
  const [minX, minY, maxX, maxY] = bbox;
  const [resX, resY] = [(maxX - minX) / width, (maxY - minY) / height];
  const xs = Float64Array.of((minX + maxX) / 2);
  const ys = Float64Array.of((minY + maxY) / 2);
  createReproject(crs, parseCrs("OGC:CRS84"))(xs, ys);
  const shrink = Math.cos(((Number.isNaN(ys[0]!) ? 0 : ys[0]!) * Math.PI) / 180);
  if (crs.isGeographic) {
    return { cellX: resX * METRES_PER_DEGREE * shrink, cellY: resY * METRES_PER_DEGREE };
  }
  // Web Mercator's metres are stretched.
  const stretch = crs.id === "EPSG:3857" ? shrink : 1;
  return { cellX: resX * crs.unit * stretch, cellY: resY * crs.unit * stretch };
}
