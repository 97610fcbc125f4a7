import type { Bbox } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../http/context.ts";
import { toBoxGeometry } from "../http/box-geometry.ts";
import type { Layer, LayerItem } from "../layers/layer.ts";
import { ITEM_SEPARATOR, toBbox } from "../layers/names.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { type Query, one, parseCount } from "../tiler/parameters.ts";
import { parseNumbers } from "../tiler/request-grid.ts";

const tagged = { schema: { tags: ["edr"] } as object };
const GEOJSON = "application/geo+json";
const DEFAULT_ITEMS = 10;
const MAX_ITEMS = 1000;

/** Items of EDR: the scenes of a collection, each with the address that its own values are at. */
export function addItemRoutes(app: FastifyInstance, { layers }: DataAccessContext): void {
  const findLayer = async (request: FastifyRequest, reply: FastifyReply): Promise<Layer> => {
    const { collection } = request.params as { collection: string };
    const layer = await layers.find(collection, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    return layer;
  };
  app.get("/collections/:collection/items", tagged, async (request, reply) => {
    const layer = await findLayer(request, reply);
    const query = request.query as Query;
    const box = one(query["bbox"]);
    const times = parseTimes(one(query["datetime"]));
    const limit = parseCount(query, "limit", MAX_ITEMS) ?? DEFAULT_ITEMS;
    const items = await layers.findItems(
      layer,
      {
        limit,
        ...(box !== undefined && { bbox: parseNumbers(box, 4) as unknown as Bbox }),
        ...(times !== undefined && { times }),
      },
      callerOf(request),
      signalOf(reply),
    );
    return reply.type(GEOJSON).send({
      type: "FeatureCollection",
      features: items.map((item) => toFeature(item, layer, baseUrlOf(request))),
      numberReturned: items.length,
      links: [{ rel: "self", type: GEOJSON, href: `${baseUrlOf(request)}${request.url}` }],
    });
  });
  app.get("/collections/:collection/items/:item", tagged, async (request, reply) => {
    const layer = await findLayer(request, reply);
    const { item: id } = request.params as { item: string };
    const [item] = await layers.findItems(layer, { limit: 1, ids: [id] }, callerOf(request), signalOf(reply));
    if (item === undefined) {
      throw new Problem(404, `There is no item "${id.slice(0, 100)}" in "${layer.id.slice(0, 100)}".`);
    }
    return reply.type(GEOJSON).send(toFeature(item, layer, baseUrlOf(request)));
  });
}

function toFeature({ id, collection, datetime, end, bbox, scene }: LayerItem, layer: Layer, base: string) {
  const own = encodeURIComponent(`${collection ?? layer.id}${ITEM_SEPARATOR}${id}`);
  return {
    type: "Feature",
    id,
    ...(bbox === undefined ? { geometry: null } : toBoxGeometry(toBbox(bbox))),
    properties: {
      label: id,
      datetime: end === undefined ? datetime : `${datetime ?? ".."}/${end}`,
      "parameter-name": Object.keys(scene.assets),
      edrqueryendpoint: `${base}/collections/${own}/cube`,
    },
    links: [{ rel: "data", type: "application/prs.coverage+json", href: `${base}/collections/${own}/cube` }],
  };
}
