import {
  type Grid,
  type OutputFormat,
  type Resampling,
  type SceneAsset,
  compileExpression,
  parseCrs,
  reprojectBbox,
  toVariable,
} from "@swath/raster";

import type { DataAccessContext } from "../http/context.ts";
import type { Picture } from "../tiles/picture-cache.ts";
import { placeScene } from "./place-scene.ts";
import type { Caller, Layer, LayerItem, LayerStyle, TimeRange } from "./layer.ts";

/** Scenes of one picture; more are hidden below the newest ones. */
const MAX_ITEMS = 100;

export interface LayerRequest {
  readonly layer: Layer;
  readonly style: LayerStyle;
  readonly grid: Grid;
  readonly times?: readonly TimeRange[];
  readonly format?: OutputFormat;
  readonly background?: readonly [number, number, number];
  readonly resampling?: Resampling;
  /** Coordinates in the layer's dimensions, by their names. */
  readonly position?: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/** The picture of a layer on a grid: the newest scenes on top. */
export async function renderLayer(
  { pictures, layers }: DataAccessContext,
  request: LayerRequest,
  signal?: AbortSignal,
): Promise<Picture> {
  const { layer, style, grid, format, background, resampling } = request;
  const items = await findItems({ layers }, request, signal);
  return pictures.render(
    {
      scenes: items
        .map(({ scene }) => placeScene(scene, layer, request))
        .filter((scene) => canShow(scene.assets, style)),
      grid,
      expressions: style.expressions,
      selection: layer.selection,
      resampling: resampling ?? style.resampling ?? "bilinear",
      ...(style.gamma !== undefined && { gamma: style.gamma }),
      ...(style.rescale !== undefined && { rescale: style.rescale }),
      ...(style.colormap !== undefined && { colormap: style.colormap }),
      ...(style.terrain !== undefined && { terrain: { algorithm: style.terrain } }),
      ...(format !== undefined && { format }),
      ...(background !== undefined && { background }),
    },
    layer.id,
    signal,
  );
}

/** Scenes below a grid that the caller may see. */
export async function findItems(
  { layers }: Pick<DataAccessContext, "layers">,
  { layer, grid, times, caller }: Pick<LayerRequest, "layer" | "grid" | "times" | "caller">,
  signal?: AbortSignal,
): Promise<readonly LayerItem[]> {
  const bbox = reprojectBbox(grid.bbox, grid.crs, parseCrs("OGC:CRS84"));
  // What no point on Earth belongs to has no scenes.
  return bbox === undefined
    ? []
    : layers.findItems(layer, { bbox, limit: MAX_ITEMS, ...(times !== undefined && { times }) }, caller, signal);
}

/** Items of a collection do not all have the same assets. */
export function canShow(
  assets: Readonly<Record<string, SceneAsset>>,
  { expressions }: Pick<LayerStyle, "expressions">,
): boolean {
  const names = expressions.flatMap((expression) => compileExpression(expression).variables);
  const keys = Object.keys(assets);
  return names.every(
    (name) =>
      keys.includes(name) ||
      keys.includes(name.replace(/_b\d+$/, "")) ||
      (keys.length === 1 && /^b\d+$/.test(name)) ||
      Object.values(assets).some(({ bandNames = [] }) => bandNames.some((each) => toVariable(each) === name)),
  );
}
