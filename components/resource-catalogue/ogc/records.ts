import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import { toOgcRecord } from "../mapping/to-ogc-record.ts";
import type { ViewLinks } from "../model/view-links.ts";
import type { StoredRecord } from "../model/record.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { GEOJSON_TYPE, JSON_TYPE, type Link, selfOf } from "../stac/links.ts";
import { sendJson, sendRecord } from "../stac/respond.ts";
import { linkPages } from "../stac/search.ts";
import { aggregate } from "../store/aggregate.ts";
import { findRecord, readSource } from "../store/read-record.ts";
import { readQueryables } from "../store/queryables.ts";
import { type SearchResult, searchRecords } from "../store/search.ts";
import { ogcCollectionUrl, ogcRecordUrl } from "./links.ts";
import { parseRecordSearch } from "./parameters.ts";
import { type CollectionScope, resolveScope } from "./scope.ts";

/** What facets are told of. */
const FACETS = ["type", "collection", "platform", "license"] as const;

/** Records of a collection, as a page and one by one (Features Part 1, Records Part 1, facets as in the draft of Part 2). */
export function addRecordRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  type CollectionParams = { Params: { collection: string } };
  scope.get<CollectionParams>("/collections/:collection/items", async (request, reply) => {
    return sendPage(context, request, reply, {
      collection: request.params.collection,
      parameters: readSingle(request),
    });
  });
  scope.get<CollectionParams>("/collections/:collection/facets", async (request, reply) => {
    const { collection } = request.params;
    const reader = await context.readerOf(request);
    const found = await resolveScope(context, reader, collection);
    const parameters = readSingle(request);
    const { search } = parseRecordSearch(parameters, await queryablesFor(context, parameters, reader, found));
    const facets = await readFacets(context, { ...search, ...found, reader, countUpTo: 0 });
    return sendJson(
      reply,
      JSON.stringify({ facets, links: [{ rel: "self", type: JSON_TYPE, href: selfOf(request) }] }),
    );
  });
  scope.get<{ Params: { collection: string; id: string }; Querystring: { f?: string } }>(
    "/collections/:collection/items/:id",
    async (request, reply) => {
      const { collection, id } = request.params;
      const reader = await context.readerOf(request);
      const record = await findInScope(context, reader, collection, id);
      if (request.query.f === "source") {
        const { bytes, type } = await readSource(context.pool, record);
        return reply.type(type).send(bytes);
      }
      if (request.headers["if-none-match"] === `"${record.n}-${record.version}"`) {
        return reply.code(304).send();
      }
      const text = JSON.stringify(renderRecord(baseOf(request), collection, record, context.viewLinks));
      return sendRecord(reply, record, text).header("content-type", GEOJSON_TYPE);
    },
  );
}

interface PageRequest {
  readonly collection: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Sends the page of a collection's records that the parameters ask for. */
async function sendPage(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { collection, parameters }: PageRequest,
): Promise<FastifyReply> {
  const reader = await context.readerOf(request);
  const found = await resolveScope(context, reader, collection);
  const { search, hasFacets } = parseRecordSearch(parameters, await queryablesFor(context, parameters, reader, found));
  const full: SearchRequest = { ...search, ...found, reader, countUpTo: context.countUpTo };
  const result = await searchRecords(context, full);
  const facets = hasFacets ? await readFacets(context, full) : undefined;
  const self = new URL(selfOf(request));
  self.search = new URLSearchParams(parameters).toString();
  const page = toPage(context, request, { collection, self: self.href, result: { ...result, facets } });
  return sendJson(reply, JSON.stringify(page), GEOJSON_TYPE);
}

/**
 * Answers a POST of CQL2 JSON to a collection's items, with which pycsw's clients search (OWSLib: `collection_items(…, cql=…)`), as the GET with
 * `filter` and `filter-lang`, which the links of the page lead to.
 */
export function sendFiltered(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { collection, filter }: { readonly collection: string; readonly filter: string },
): Promise<FastifyReply> {
  const parameters = { ...readSingle(request), filter, "filter-lang": "cql2-json" };
  return sendPage(context, request, reply, { collection, parameters });
}

/** A record by its id in a collection; in `metadata:main` of whatever collection it is. @throws {Problem} 404 */
export async function findInScope(
  context: CatalogueContext,
  reader: Reader,
  collection: string,
  id: string,
): Promise<StoredRecord> {
  const { kinds, collections } = await resolveScope(context, reader, collection);
  const record = await findRecord(context, {
    reader,
    id,
    ...(collections !== undefined && { collection }),
    ...(!kinds.includes("c") && { isCollection: false }),
  });
  if (record === undefined) {
    throw notFound(`Record ${JSON.stringify(id)} of collection ${JSON.stringify(collection)}`);
  }
  return record;
}

/** A record with the links of its address in a collection. */
export function renderRecord(base: string, collection: string, record: StoredRecord, viewLinks: ViewLinks): object {
  const mapped = toOgcRecord(record);
  const parent = ogcCollectionUrl(base, collection);
  const stac =
    record.kind === "c"
      ? `${base}/stac/collections/${encodeURIComponent(record.collection)}`
      : `${base}/stac/collections/${encodeURIComponent(record.collection)}/items/${encodeURIComponent(record.id)}`;
  return {
    ...mapped,
    links: [
      { rel: "self", type: GEOJSON_TYPE, href: ogcRecordUrl(base, collection, record.id) },
      { rel: "collection", type: JSON_TYPE, href: parent },
      { rel: "root", type: JSON_TYPE, href: `${base}/` },
      { rel: "alternate", type: record.kind === "c" ? JSON_TYPE : GEOJSON_TYPE, href: stac, title: "STAC" },
      ...viewLinks(record),
      ...mapped.links,
    ],
  };
}

function toPage(
  { viewLinks }: CatalogueContext,
  request: FastifyRequest,
  {
    collection,
    self,
    result,
  }: {
    readonly collection: string;
    readonly self: string;
    readonly result: SearchResult & { readonly facets: object | undefined };
  },
): object {
  const { records, matched, facets } = result;
  const base = baseOf(request);
  const links: readonly Link[] = [
    { rel: "self", type: GEOJSON_TYPE, href: self },
    { rel: "collection", type: JSON_TYPE, href: ogcCollectionUrl(base, collection) },
    { rel: "root", type: JSON_TYPE, href: `${base}/` },
    ...linkPages(result, (rel, token) => toPageLink(self, rel, token)),
  ];
  return {
    type: "FeatureCollection",
    timeStamp: new Date().toISOString(),
    ...(matched && {
      numberMatched: matched.count,
      ...(matched.isLowerBound && { numberMatchedIsLowerBound: true }),
    }),
    numberReturned: records.length,
    features: records.map((record) => renderRecord(base, collection, record, viewLinks)),
    ...(facets && { facets }),
    links,
  };
}

function toPageLink(self: string, rel: "next" | "prev", token: string): Link {
  const url = new URL(self);
  url.searchParams.set("token", token);
  url.searchParams.delete("offset");
  url.searchParams.delete("startindex");
  return { rel, type: GEOJSON_TYPE, method: "GET", href: url.href };
}

/** Names that may be parameters; looked up only where a request has some that are no parameters of the standards. */
async function queryablesFor(
  context: CatalogueContext,
  parameters: Readonly<Record<string, string>>,
  reader: Reader,
  found: CollectionScope,
): Promise<ReadonlySet<string>> {
  const hasOthers = Object.keys(parameters).some((name) => /[:_]/.test(name) || /^[a-z]+$/.test(name));
  return hasOthers ? new Set(Object.keys(await readQueryables(context, { reader, ...found }))) : new Set();
}

async function readFacets(context: CatalogueContext, request: SearchRequest): Promise<object> {
  const facets: Record<string, object> = {};
  for (const property of FACETS) {
    const { buckets = [], isPartial } = await aggregate(context, request, { kind: "terms", property });
    facets[property] = {
      type: "term",
      property,
      ...(isPartial && { isPartial }),
      buckets: buckets.slice(0, 50).map(({ key, count }) => ({ value: key, count })),
    };
  }
  return facets;
}
