import { type Bbox, type ImageRequest, type Scene, compileExpression } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { ITEM_ORDERS, type ItemQuery, type Layer, type LayerItem, type LayerStyle } from "../layers/layer.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { placeScene } from "../layers/place-scene.ts";
import { parsePosition } from "../layers/position.ts";
import { canShow } from "../layers/render-layer.ts";
import { requireStyle } from "../styles/routes.ts";
import { applyAlgorithm } from "./algorithms.ts";
import { type Query, listOf, one, parseNodata, parseOneOf, parseRender } from "./parameters.ts";
import { parseSelection } from "./selection.ts";

/** Scenes of one picture; more are hidden below those that come first. */
const MAX_ITEMS = 100;

/** What pictures and values are made of at a tiler's paths: an item, a collection, a saved search. */
export interface SceneTarget {
  readonly id: string;
  readonly title: string;
  /** Degrees. */
  readonly bounds: Bbox;
  readonly styles: readonly LayerStyle[];
  readonly layer?: Layer;
  readonly findItems: (area: Bbox | undefined, limit?: number) => Promise<readonly LayerItem[]>;
}

export type OpenTarget = (request: FastifyRequest, reply: FastifyReply) => Promise<SceneTarget>;

/** The target of a layer, with the conditions of the request: `datetime`, `ids`, `pixel_selection` or `sortby`. */
export function toLayerTarget(
  { layers }: DataAccessContext,
  layer: Layer,
  request: FastifyRequest,
  reply: FastifyReply,
): SceneTarget {
  const query = request.query as Query;
  const times = parseTimes(one(query["datetime"]));
  const ids = one(query["ids"])?.split(",");
  const order = parseSelection(one(query["pixel_selection"]))?.order;
  const sorted = parseOneOf(query, "sortby", ITEM_ORDERS);
  const conditions: Omit<ItemQuery, "limit"> = {
    ...(times !== undefined && { times }),
    ...(ids !== undefined && { ids }),
    ...(order !== undefined && { order }),
    ...(sorted !== undefined && { order: sorted }),
  };
  const place = { position: parsePosition(listOf(query["sel"]), layer, "sel"), ...(times !== undefined && { times }) };
  const signal = signalOf(reply);
  return {
    id: layer.id,
    title: layer.title,
    bounds: layer.bbox,
    styles: layer.styles,
    layer,
    findItems: async (area, limit = MAX_ITEMS) => {
      const items = await layers.findItems(
        layer,
        { ...conditions, limit, ...(area !== undefined && { bbox: area }) },
        callerOf(request),
        signal,
      );
      return items.map((item) => ({ ...item, scene: placeScene(item.scene, layer, place) }));
    },
  };
}

/** How a request wants it shown: by its own parameters, else by a style, else by the target's first one. */
export function toLook(
  { styles, layer }: Pick<SceneTarget, "styles" | "layer">,
  query: Query,
  /** What `assets` means. */
  assets: readonly string[] | undefined,
  { isPicture }: { readonly isPicture: boolean },
): Partial<ImageRequest> & { readonly expressions: readonly string[] } {
  const rendered = parseRender(query);
  const name = one(query["style"]);
  const provided = assets ?? rendered.expressions;
  const style =
    layer === undefined
      ? (styles.find(({ id }) => id === name) ?? (provided === undefined ? styles[0] : undefined))
      : name !== undefined || provided === undefined
        ? requireStyle(layer, name)
        : undefined;
  const bands = provided ?? style?.expressions;
  if (bands === undefined) {
    throw new Problem(400, "Say what is to be shown: assets, expression or style.");
  }
  const algorithm = one(query["algorithm"]);
  const { isBytes, rescale, expressions, terrain } = applyAlgorithm(algorithm, bands);
  return {
    resampling: style?.resampling ?? (isPicture ? "bilinear" : "nearest"),
    ...(isPicture && algorithm === undefined && style !== undefined && colorsOf(style, expressions)),
    ...(rescale !== undefined && (isBytes || isPicture) && { rescale, rendersData: isBytes }),
    ...(terrain !== undefined && { terrain }),
    ...rendered,
    expressions,
  };
}

/** How a style shows expressions, which need not be its own. */
function colorsOf(
  { rescale, colormap, terrain, gamma }: LayerStyle,
  expressions: readonly string[],
): Pick<ImageRequest, "rescale" | "colormap" | "terrain" | "gamma"> {
  return {
    ...(rescale !== undefined && { rescale }),
    // Colours are of one value.
    ...(colormap !== undefined && expressions.length === 1 && { colormap }),
    ...(terrain !== undefined && { terrain: { algorithm: terrain } }),
    ...(gamma !== undefined && { gamma }),
  };
}

/** Items of a collection do not all have the same assets. */
export const scenesFor = (items: readonly LayerItem[], expressions: readonly string[]): readonly Scene[] =>
  items.map(({ scene }) => scene).filter((scene) => canShow(scene.assets, { expressions }));

/** Scenes that have what the expressions name. @throws {Problem} 400 for a name that neither the items nor the styles have */
export function requireScenes(
  items: readonly LayerItem[],
  expressions: readonly string[],
  { styles }: Pick<SceneTarget, "styles">,
): readonly Scene[] {
  const scenes = scenesFor(items, expressions);
  if (scenes.length > 0 || items.length === 0) {
    return scenes;
  }
  const variablesOf = (list: readonly string[]) => list.flatMap((text) => compileExpression(text).variables);
  const styled = new Set(styles.flatMap((style) => variablesOf(style.expressions)));
  const unknown = variablesOf(expressions).find((name) => !styled.has(name) && scenesFor(items, [name]).length === 0);
  if (unknown !== undefined) {
    const assets = new Set(items.flatMap(({ scene }) => Object.keys(scene.assets)));
    throw new Problem(
      400,
      `There is no asset or band "${unknown.slice(0, 50)}"; assets are ${[...assets].slice(0, 50).join(", ")}.`,
    );
  }
  return scenes;
}

/** With the value of missing pixels that the request names, in all of their files. */
export function withNodata(scenes: readonly Scene[], query: Query): readonly Scene[] {
  const nodata = parseNodata(query);
  return nodata === undefined
    ? scenes
    : scenes.map(({ assets }) => ({
        assets: Object.fromEntries(Object.entries(assets).map(([name, asset]) => [name, { ...asset, nodata }])),
      }));
}
