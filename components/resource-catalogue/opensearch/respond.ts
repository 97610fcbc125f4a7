import type { FastifyReply, FastifyRequest } from "fastify";

import { KINDS, NO_MAIN_RECORDS } from "../csw/kinds.ts";
import { XML_DECLARATION } from "../csw/versions.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { badParameter, notFound } from "../http/errors.ts";
import { allOf } from "../query/expression.ts";
import { searchRecords } from "../store/search.ts";
import { DESCRIPTION_TYPE, renderDescription } from "./description.ts";
import { ATOM_TYPE, GEOJSON_TYPE, type ResultPage, renderFeed, renderGeoJson } from "./responses.ts";
import { parseOpenSearch } from "./search.ts";

type Query = Readonly<Record<string, unknown>>;

/** The description of the search of the whole catalogue. */
export function respondToDescribe(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const base = baseOf(request);
  const description = renderDescription({
    self: `${base}/opensearch`,
    search: `${base}/opensearch/search`,
    title: "Swath catalogue",
    description: "Scenes, results, applications and services of this platform.",
  });
  return reply.type(DESCRIPTION_TYPE).send(XML_DECLARATION + description);
}

/** A page of records. @throws {Problem} 400 for parameters that are none, 404 for a record that is not there */
export async function respondToSearch(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: ReadonlyMap<string, string>,
  // Set where the address names it.
  collection?: string,
): Promise<FastifyReply> {
  const format = readFormat(request);
  const { search: requested, count, startIndex } = parseOpenSearch(parameters);
  const filter = allOf([requested.filter, NO_MAIN_RECORDS]);
  const { records, matched, next } = await searchRecords(context, {
    ...requested,
    reader: await context.readerOf(request),
    kinds: parameters.has("parentIdentifier") ? ["i", "r"] : KINDS,
    limit: count,
    ...(startIndex > 1 && { offset: startIndex - 1 }),
    ...context.harvestCount,
    ...(filter && { filter }),
  });
  const uid = parameters.get("uid");
  if (uid !== undefined && records.length === 0 && count > 0 && startIndex === 1) {
    throw notFound(`Record ${JSON.stringify(uid.slice(0, 200))}`);
  }
  const seen = records.length === 0 ? 0 : startIndex - 1 + records.length + (next === undefined ? 0 : 1);
  const base = baseOf(request);
  const page: ResultPage = {
    title: collection === undefined ? "Resource catalogue" : `Resource catalogue: ${collection}`,
    records,
    total: Math.max(matched?.count ?? 0, seen),
    startIndex,
    count,
    hasNext: next !== undefined,
    url: new URL(`${base}${request.url}`),
    description:
      collection === undefined
        ? `${base}/opensearch`
        : `${base}/opensearch/collections/${encodeURIComponent(collection)}`,
    parameters,
    viewLinks: context.viewLinks,
  };
  void reply.header("vary", "accept");
  return format === "json"
    ? reply.type(GEOJSON_TYPE).send(renderGeoJson(request, page))
    : reply.type(ATOM_TYPE).send(renderFeed(request, page));
}

/** `f`, `httpAccept` or `outputFormat`, else the header; Atom where nothing is said. @throws {Problem} 400 */
function readFormat(request: FastifyRequest): "atom" | "json" {
  const query = new Map(Object.entries(request.query as Query).map(([name, value]) => [name.toLowerCase(), value]));
  const provided = query.get("f") ?? query.get("httpaccept") ?? query.get("outputformat") ?? query.get("format");
  if (provided === undefined || provided === "") {
    const { accept = "" } = request.headers;
    return /application\/(?:geo\+)?json/.test(accept) && !accept.includes("atom") ? "json" : "atom";
  }
  if (
    typeof provided === "string" &&
    /^(?:json|geojson|application\/(?:geo\+)?json)$/i.test(provided.replaceAll(" ", "+"))
  ) {
    return "json";
  }
  if (typeof provided === "string" && /^(?:atom|application\/(?:atom\+)?xml)$/i.test(provided.replaceAll(" ", "+"))) {
    return "atom";
  }
  throw badParameter("f", "must be atom or json");
}
