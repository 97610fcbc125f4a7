import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../http/context.ts";
import type { Bbox } from "@swath/raster";
import { ITEM_SEPARATOR, toBbox } from "../layers/names.ts";
import { placeScene } from "../layers/place-scene.ts";
import { parsePosition } from "../layers/position.ts";
import { type Query, listOf, one } from "./parameters.ts";
import { parseSavedSearch, readSavedSearch, writeSavedSearch } from "./saved-search.ts";
import { addSceneRoutes } from "./scene-routes.ts";
import { type OpenTarget, toLayerTarget } from "./scene-target.ts";

const WORLD: Bbox = [-180, -90, 180, 90];

/** Today's tilers' paths over the catalogue: an item by its address, collections, and searches that are saved in their own id. */
export function addTilerRoutes(app: FastifyInstance, context: DataAccessContext): void {
  const { layers } = context;
  const openItem: OpenTarget = async (request, reply) => {
    const url = one((request.query as Query)["url"]);
    const found = url === undefined ? undefined : await layers.findItemAt(url, callerOf(request), signalOf(reply));
    if (found === undefined) {
      throw new Problem(
        url === undefined ? 400 : 404,
        "url must be the address of an item of this platform's catalogue that you may read.",
      );
    }
    const { item, layer } = found;
    if (Object.keys(item.scene.assets).length === 0) {
      throw new Problem(
        422,
        "None of the item's files can be read here: it needs a raster at an address that this service may read.",
      );
    }
    const place = { position: parsePosition(listOf((request.query as Query)["sel"]), layer ?? {}, "sel") };
    return {
      id: item.id,
      title: item.id,
      bounds: item.bbox === undefined ? WORLD : toBbox(item.bbox),
      styles: layer?.styles ?? [],
      findItems: async () => [
        { ...item, scene: layer === undefined ? item.scene : placeScene(item.scene, layer, place) },
      ],
    };
  };
  const openCollection: OpenTarget = async (request, reply) => {
    const { collection } = request.params as { collection: string };
    const layer = await layers.find(collection, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    return toLayerTarget(context, layer, request, reply);
  };
  const openCollectionItem: OpenTarget = async (request, reply) => {
    const { collection, item } = request.params as { collection: string; item: string };
    const layer = await layers.find(`${collection}${ITEM_SEPARATOR}${item}`, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, `There is no item "${item.slice(0, 100)}" in "${collection.slice(0, 100)}".`);
    }
    return toLayerTarget(context, layer, request, reply);
  };
  const openSearch = async (request: FastifyRequest, reply: FastifyReply) => {
    const { search } = request.params as { search: string };
    const requested = readSavedSearch(search);
    const layer = await layers.findBySearch(search, requested, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, "The search finds nothing that you may read.");
    }
    return toLayerTarget(context, layer, request, reply);
  };

  void app.register(async (scope) => addSceneRoutes(scope, context, { kind: "stac", open: openItem }), {
    prefix: "/stac",
  });
  void app.register(async (scope) => addSceneRoutes(scope, context, { kind: "collections", open: openCollection }), {
    prefix: "/collections/:collection",
  });
  void app.register(async (scope) => addSceneRoutes(scope, context, { kind: "items", open: openCollectionItem }), {
    prefix: "/collections/:collection/items/:item",
  });
  void app.register(async (scope) => addSceneRoutes(scope, context, { kind: "searches", open: openSearch }), {
    prefix: "/searches/:search",
  });
  app.post("/searches/register", { schema: { tags: ["searches"] } as object }, async (request) => {
    const id = writeSavedSearch(parseSavedSearch(request.body));
    const base = `${baseUrlOf(request)}/searches/${id}`;
    return {
      id,
      links: [
        { rel: "info", type: "application/json", href: `${base}/info` },
        {
          rel: "tilejson",
          type: "application/json",
          href: `${base}/{tileMatrixSetId}/tilejson.json`,
          templated: true,
        },
      ],
    };
  });
}
