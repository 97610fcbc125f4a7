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
import { decodeGeohash, listGeohashes } from "./geohash.ts";

const tagged = { schema: { tags: ["edr"] } as object };
const GEOJSON = "application/geo+json";
const DEFAULT_ITEMS = 10;
const MAX_ITEMS = 1000;
const DEFAULT_LOCATIONS = 100;

/**
 * Items of EDR: the scenes of a collection, each with the address that its own values are at. Locations: any geohash is one, with the values in
 * the middle of its cell; those listed cover the collection, as finely as their number allows.
 */
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
  app.get("/collections/:collection/locations", tagged, async (request, reply) => {
    const { id, bbox } = await findLayer(request, reply);
    const query = request.query as Query;
    const text = one(query["bbox"]);
    const box = text === undefined ? undefined : (parseNumbers(text, 4) as unknown as Bbox);
    const limit = parseCount(query, "limit", MAX_ITEMS) ?? DEFAULT_LOCATIONS;
    const area = intersectBoxes(bbox[0] <= bbox[2] ? bbox : [-180, bbox[1], 180, bbox[3]], box);
    const features = (area === undefined ? [] : listGeohashes(area, limit)).map((hash) => ({
      type: "Feature",
      id: hash,
      ...toBoxGeometry(decodeGeohash(hash)!),
      properties: {
        label: hash,
        edrqueryendpoint: `${baseUrlOf(request)}/collections/${encodeURIComponent(id)}/locations/${hash}`,
      },
    }));
    return reply.type(GEOJSON).send({ type: "FeatureCollection", features, numberReturned: features.length });
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

function intersectBoxes([west, south, east, north]: Bbox, box: Bbox = [-180, -90, 180, 90]): Bbox | undefined {
  const part: Bbox = [Math.max(west, box[0]), Math.max(south, box[1]), Math.min(east, box[2]), Math.min(north, box[3])];
  return part[0] < part[2] && part[1] < part[3] ? part : undefined;
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
