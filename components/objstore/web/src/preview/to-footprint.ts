import { loadWithRetry } from "@swath/ui";

import type { Footprint } from "./find-footprints.ts";
import type { RasterInfo } from "./read-geotiff.ts";

/** Points a side of the outline: a straight side of the raster is a curve on the map. */
const STEPS = 8;

/** Where a raster lies, in degrees; undefined where it has no place. @throws {Error} when its reference system is not known */
export async function toFootprint({ box: bbox, epsg }: RasterInfo, id: string): Promise<Footprint | undefined> {
  if (bbox === undefined || epsg === undefined) {
    return undefined;
  }
  const { toDegrees } = await loadWithRetry(() => import("@swath/ui/map"));
  const ring = await toDegrees(`EPSG:${epsg}`, outline(bbox));
  const lons = ring.map(([lon]) => lon);
  const lats = ring.map(([, lat]) => lat);
  return {
    id,
    geometry: { type: "Polygon", coordinates: [ring] },
    box: [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)],
  };
}

function outline([west, south, east, north]: NonNullable<RasterInfo["box"]>): readonly (readonly [number, number])[] {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ] as const;
  const points = corners.flatMap(([x, y], index) => {
    const [nextX, nextY] = corners[(index + 1) % 4] ?? corners[0];
    return Array.from({ length: STEPS }, (_, step): readonly [number, number] => [
      x + ((nextX - x) * step) / STEPS,
      y + ((nextY - y) * step) / STEPS,
    ]);
  });
  return [...points, corners[0]];
}
