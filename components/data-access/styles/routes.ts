import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../http/context.ts";
import type { Layer, LayerStyle } from "../layers/layer.ts";
import { parseStyle, toRenderDocument } from "./render-document.ts";

type Params = Readonly<Record<"collection" | "style", string>>;
const tagged = { schema: { tags: ["styles"] } as object };
const MAX_STYLE_BYTES = 256 * 1024;

/** Styles of layers as documents: made from the bands, or kept in the collection's own `renders`. */
export function addStyleRoutes(app: FastifyInstance, { layers, responses }: DataAccessContext): void {
  const find = async (request: FastifyRequest, reply: FastifyReply): Promise<Layer> => {
    const { collection } = request.params as Params;
    const layer = await layers.find(collection, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    return layer;
  };
  app.get("/collections/:collection/styles", tagged, async (request, reply) => {
    const layer = await find(request, reply);
    const { styles } = layer;
    const list = styles.map((style) => ({ ...describeStyle(style), links: linksOf(layer, style, request) }));
    return { styles: list, default: styles[0]?.id };
  });
  app.get("/collections/:collection/styles/:style", tagged, async (request, reply) => {
    const layer = await find(request, reply);
    const style = requireStyle(layer, (request.params as Params).style);
    return { ...describeStyle(style), links: linksOf(layer, style, request) };
  });
  app.put(
    "/collections/:collection/styles/:style",
    { ...tagged, bodyLimit: MAX_STYLE_BYTES },
    async (request, reply) => {
      const layer = await find(request, reply);
      const { style: id } = request.params as Params;
      const style = parseStyle(id, request.body);
      await requireKeeper(layer)(id, request.body as Readonly<Record<string, unknown>>, request);
      return describeStyle(style);
    },
  );
  app.delete("/collections/:collection/styles/:style", tagged, async (request, reply) => {
    const layer = await find(request, reply);
    const { style: id } = request.params as Params;
    if (requireStyle(layer, id).isKept !== true) {
      throw new Problem(409, "The style is made from the bands; only kept styles can be removed.");
    }
    await requireKeeper(layer)(id, null, request);
    return reply.code(204).send();
  });

  const requireKeeper =
    (layer: Layer) =>
    async (id: string, document: Readonly<Record<string, unknown>> | null, request: FastifyRequest): Promise<void> => {
      if (layers.keepStyle === undefined || layer.kind !== "collection") {
        throw new Problem(409, "Styles are kept with collections of a catalogue; this layer is none.");
      }
      await layers.keepStyle(layer.id, id, document, callerOf(request));
      responses.clear();
    };
}

/** Where maps and tiles of a style are (OGC 20-058, "styled map"). */
function linksOf({ id }: Layer, style: LayerStyle, request: FastifyRequest) {
  const self = `${baseUrlOf(request)}/collections/${encodeURIComponent(id)}/styles/${encodeURIComponent(style.id)}`;
  const relation = "http://www.opengis.net/def/rel/ogc/1.0";
  return [
    { rel: "self", type: "application/json", href: self },
    { rel: `${relation}/map`, type: "image/png", href: `${self}/map.png` },
    { rel: `${relation}/map`, type: "image/jpeg", href: `${self}/map.jpg` },
    { rel: `${relation}/tilesets-map`, type: "application/json", href: `${self}/map/tiles` },
  ];
}

const describeStyle = (style: LayerStyle) => ({
  id: style.id,
  ...toRenderDocument(style),
  kept: style.isKept === true,
});

/** @throws {Problem} 404 with the styles there are */
export function requireStyle(layer: Layer, id: string | undefined): LayerStyle {
  const style = id === undefined || id === "default" ? layer.styles[0] : layer.styles.find((each) => each.id === id);
  if (style === undefined) {
    throw new Problem(
      404,
      `The collection has no style "${(id ?? "").slice(0, 100)}"; styles: ${layer.styles.map((each) => each.id).join(", ")}.`,
    );
  }
  return style;
}
