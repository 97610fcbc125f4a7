import { type Crs, type Grid, type Scene, createReproject, parseCrs } from "@swath/raster";

import type { DataAccessContext } from "../../http/context.ts";
import type { Caller, Layer, TimeRange } from "../../layers/layer.ts";
import type { Position } from "../../layers/position.ts";
import { placeScene } from "../../layers/place-scene.ts";
import { findItems } from "../../layers/render-layer.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import { parseMapRequest } from "./get-map.ts";
import { INFO_TYPES, type Value, writeInfo } from "./write-info.ts";

const MAX_FEATURES = 50;

/** The values of the scenes below a pixel, newest first. */
export async function getFeatureInfo(
  context: DataAccessContext,
  kvp: Kvp,
  version: string,
  caller: Caller,
  signal: AbortSignal,
): Promise<{ type: string; body: string }> {
  const { grid, layers, times, position } = await parseMapRequest(context, kvp, version, caller);
  const [i, j] = version === "1.3.0" ? ["I", "J"] : ["X", "Y"];
  const [column, row] = [Number(kvp.require(i)), Number(kvp.require(j))];
  if (
    !Number.isInteger(column) ||
    !Number.isInteger(row) ||
    column < 0 ||
    row < 0 ||
    column >= grid.width ||
    row >= grid.height
  ) {
    throw new OwsError("InvalidPoint", `${i} and ${j} must be a pixel of the map.`, { locator: i });
  }
  const type = (kvp.get("INFO_FORMAT") ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
  if (!INFO_TYPES.includes(type as never)) {
    throw new OwsError("InvalidFormat", `INFO_FORMAT must be one of ${INFO_TYPES.join(", ")}.`, {
      locator: "INFO_FORMAT",
    });
  }
  const count = Math.min(MAX_FEATURES, Number(kvp.get("FEATURE_COUNT") ?? 1) || 1);
  const named = kvp
    .require("QUERY_LAYERS")
    .split(",")
    .map((name) => {
      const layer = layers.find((each) => each.layer.id === name)?.layer;
      if (layer === undefined) {
        throw new OwsError("LayerNotDefined", `QUERY_LAYERS must be among LAYERS; "${name.slice(0, 100)}" is not.`, {
          locator: "QUERY_LAYERS",
        });
      }
      return layer;
    });
  const body = await describePixel(
    context,
    { grid, column, row, layers: named, position, count, type, caller, ...(times !== undefined && { times }) },
    signal,
  );
  return { type, body };
}

interface PixelRequest {
  readonly grid: Grid;
  readonly column: number;
  readonly row: number;
  readonly layers: readonly Layer[];
  readonly times?: readonly TimeRange[];
  readonly position: Position;
  readonly count: number;
  readonly type: string;
  readonly caller: Caller;
}

/** The values of scenes below a pixel of a grid, written as one of `INFO_TYPES`. */
export async function describePixel(
  context: DataAccessContext,
  { grid, column, row, layers, times, position, count, type, caller }: PixelRequest,
  signal: AbortSignal,
): Promise<string> {
  const [minX, minY, maxX, maxY] = grid.bbox;
  const [halfX, halfY] = [(maxX - minX) / grid.width / 2, (maxY - minY) / grid.height / 2];
  const point = { crs: grid.crs, x: minX + (2 * column + 1) * halfX, y: maxY - (2 * row + 1) * halfY };
  const pixel = {
    crs: grid.crs,
    bbox: [point.x - halfX, point.y - halfY, point.x + halfX, point.y + halfY] as const,
    width: 1,
    height: 1,
  };
  const found: Value[] = [];
  for (const layer of layers) {
    for (const item of await findItems(
      context,
      { layer, grid: pixel, caller, ...(times !== undefined && { times }) },
      signal,
    )) {
      if (found.length >= count) {
        break;
      }
      const scene = placeScene(item.scene, layer, { position, ...(times !== undefined && { times }) });
      const values = await readValues(context, scene, point, signal);
      if (Object.keys(values).length > 0) {
        found.push({ layer: layer.id, item: item.id, datetime: item.datetime, values });
      }
    }
  }
  return writeInfo(found, type, toPlace(point));
}

/** The middle of the pixel in degrees; `null` where it is nowhere on Earth. */
function toPlace({ crs, x, y }: { readonly crs: Crs; readonly x: number; readonly y: number }) {
  const [xs, ys] = [Float64Array.of(x), Float64Array.of(y)];
  createReproject(crs, parseCrs("OGC:CRS84"))(xs, ys);
  const coordinates = [xs[0] ?? Number.NaN, ys[0] ?? Number.NaN] as const;
  return coordinates.every(Number.isFinite) ? { type: "Point" as const, coordinates } : null;
}

async function readValues(
  { pool }: DataAccessContext,
  scene: Scene,
  point: Pick<Parameters<typeof pool.point>[0], "crs" | "x" | "y">,
  signal: AbortSignal,
): Promise<Value["values"]> {
  const entries = await Promise.all(
    Object.entries(scene.assets).map(
      async ([key, { location, variable, position }]) =>
        [
          key,
          await pool.point(
            { location, ...point, ...(variable !== undefined && { variable }), ...(position && { position }) },
            signal,
          ),
        ] as const,
    ),
  );
  return Object.fromEntries(
    entries.flatMap(([key, values]) =>
      values === undefined || values.every((value) => value === null) ? [] : [[key, values] as const],
    ),
  );
}
