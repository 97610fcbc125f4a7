import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { KINDS, NO_MAIN_RECORDS } from "../csw/kinds.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { badParameter, handleError, notFound } from "../http/errors.ts";
import { summarize } from "../mapping/summary.ts";
import { allOf } from "../query/expression.ts";
import { findRecord } from "../store/read-record.ts";
import { searchRecords } from "../store/search.ts";
import { XML_DECLARATION } from "../csw/versions.ts";
import { DESCRIPTION_TYPE, renderDescription } from "./description.ts";
import { readParameters } from "./parameters.ts";
import { ATOM_TYPE, GEOJSON_TYPE, type ResultPage, renderFeed, renderGeoJson } from "./responses.ts";
import { parseOpenSearch } from "./search.ts";

type Query = Readonly<Record<string, unknown>>;
interface CollectionParams {
  readonly Params: { readonly collection: string };
}

/**
 * OpenSearch 1.1 with the extensions Geo, Time (OGC 10-032r8) and EO (OGC 13-026r9). `/opensearch` describes the search, and carries it
 * out where it has parameters; `/opensearch/collections/{id}` does the same in one collection.
 */
export function addOpenSearchRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.setErrorHandler(handleError);
  scope.get("/opensearch", { schema: { hide: true } }, (request, reply) => {
    const parameters = readParameters(request.query as Query);
    return parameters.size > 0 || isSearch(request.query as Query)
      ? search(context, request, reply, parameters)
      : reply.type(DESCRIPTION_TYPE).send(XML_DECLARATION + describeAll(request));
  });
  scope.get("/opensearch/search", { schema: { hide: true } }, (request, reply) =>
    search(context, request, reply, readParameters(request.query as Query)),
  );
  scope.get<CollectionParams>(
    "/opensearch/collections/:collection",
    { schema: { hide: true } },
    async (request, reply) => {
      const { collection } = request.params;
      const record = await findRecord(context, {
        reader: await context.readerOf(request),
        id: collection,
        collection,
        isCollection: true,
      });
      if (record === undefined) {
        throw notFound(`Collection ${JSON.stringify(collection)}`);
      }
      const { title, abstract } = summarize(record);
      const self = `${baseOf(request)}/opensearch/collections/${encodeURIComponent(collection)}`;
      return reply
        .type(DESCRIPTION_TYPE)
        .send(
          XML_DECLARATION +
            renderDescription({ self, search: `${self}/search`, title, description: abstract ?? title, collection }),
        );
    },
  );
  scope.get<CollectionParams>(
    "/opensearch/collections/:collection/search",
    { schema: { hide: true } },
    async (request, reply) => {
      const { collection } = request.params;
      const reader = await context.readerOf(request);
      if ((await findRecord(context, { reader, id: collection, collection, isCollection: true })) === undefined) {
        throw notFound(`Collection ${JSON.stringify(collection)}`);
      }
      const parameters = new Map(readParameters(request.query as Query));
      if (parameters.has("parentIdentifier") && parameters.get("parentIdentifier") !== collection) {
        throw badParameter("parentIdentifier", `must be ${collection} at this address`);
      }
      return search(context, request, reply, parameters.set("parentIdentifier", collection), collection);
    },
  );
}

/** Clients of the known system search by `request=GetRecords` in the query string. */
const isSearch = (query: Query): boolean =>
  Object.entries(query).some(
    ([name, value]) =>
      (name.toLowerCase() === "request" && value === "GetRecords") || /^(?:f|httpaccept|format)$/i.test(name),
  );

function describeAll(request: FastifyRequest): string {
  const base = baseOf(request);
  return renderDescription({
    self: `${base}/opensearch`,
    search: `${base}/opensearch/search`,
    title: "Swath catalogue",
    description: "Scenes, results, applications and services of this platform.",
  });
}

async function search(
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
