import { getTransform } from "ol/proj.js";
import { fromEPSGCode } from "ol/proj/proj4.js";

import { prepareProjections } from "./projections.ts";

/**
 * Points of a reference system (`EPSG:32633`) as longitude and latitude.
 * @throws {Error} when the system is not known
 */
export async function toDegrees(
  code: string,
  points: readonly (readonly [number, number])[],
): Promise<readonly (readonly [number, number])[]> {
  await prepareProjections();
  const projection = await fromEPSGCode(code);
  const transform = getTransform(projection, "EPSG:4326");
  return points.map((point) => transform([...point], undefined, 2) as unknown as readonly [number, number]);
}
