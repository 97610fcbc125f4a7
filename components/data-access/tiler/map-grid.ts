import { type Bbox, type Crs, type GridRequest, MAX_OUTPUT_PIXELS, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";

import { type Query, one, parseCount } from "./parameters.ts";
import { PREVIEW_SIZE, parseNumbers } from "./request-grid.ts";

/**
 * The grid of a map (OGC 20-058): `bbox` in `bbox-crs`, in the order of that system's axes, shown in `crs`.
 * @throws {Problem} 400
 */
export function toMapGrid(query: Query, own: { readonly crs: Crs; readonly bboxCrs: Crs }): GridRequest {
  const crs = parseSystem(one(query["crs"])) ?? own.crs;
  const text = one(query["bbox"]);
  const named = parseSystem(one(query["bbox-crs"]));
  if (named !== undefined && text === undefined) {
    throw new Problem(400, "bbox-crs has no effect without bbox.");
  }
  const bboxCrs = named ?? own.bboxCrs;
  const [width, height] = ["width", "height"].map((name) => parseCount(query, name, MAX_OUTPUT_PIXELS));
  return {
    crs,
    ...(text !== undefined && { bbox: parseBox(text, bboxCrs), bboxCrs }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(width === undefined && height === undefined && { maxSize: PREVIEW_SIZE }),
  };
}

/** A CURIE in brackets is one without them: `[EPSG:3857]`. */
const parseSystem = (text: string | undefined) =>
  text === undefined ? undefined : parseCrs(text.replace(/^\[(.+)\]$/, "$1"));

function parseBox(text: string, crs: Crs): Bbox {
  const [first = 0, second = 0, third = 0, fourth = 0] = parseNumbers(text, 4);
  return crs.isNorthFirst ? [second, first, fourth, third] : [first, second, third, fourth];
}
