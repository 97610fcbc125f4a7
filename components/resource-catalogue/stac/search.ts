import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { badParameter, notFound } from "../http/errors.ts";
import { requireObject } from "../http/json-body.ts";
import { toTokenText } from "../query/page-token.ts";
import { findCollection } from "../store/collections.ts";
import { type SearchResult, searchRecords } from "../store/search.ts";
import { GEOJSON_TYPE, JSON_TYPE, type Link, collectionUrl, selfOf, stacRoot } from "./links.ts";
import { renderItems, sendJson } from "./respond.ts";
import { type RawParameters, type StacSearch, parseSearch, readQueryString } from "./search-parameters.ts";

const ITEM_PARAMETERS = new Set([
  "bbox",
  "datetime",
  "limit",
  "token",
  "filter",
  "filter-lang",
  "filter-crs",
  "sortby",
  "fields",
  "query",
  "q",
  "ids",
  // pystac-client names the collection of the address once more.
  "collections",
]);

/** Names members of a search that had no effect. */
const IGNORED_HEADER = "x-ignored-members";

/** Item search (STAC API 1.0 item-search), and the items of a collection. */
export function addSearchRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.get("/search", async (request, reply) => {
    const search = parseSearch(readQueryString(request), false);
    return sendPage(context, request, reply, { search, toPage: (rel, token) => pageByGet(request, rel, token) });
  });
  scope.post("/search", async (request, reply) => {
    const body: RawParameters = request.body === undefined ? {} : requireObject(request.body).value;
    const search = parseSearch(body, true);
    if (search.ignored.length > 0) {
      void reply.header(IGNORED_HEADER, search.ignored.join(", "));
    }
    return sendPage(context, request, reply, {
      search,
      toPage: (rel, token) => ({
        rel,
        type: GEOJSON_TYPE,
        method: "POST",
        href: `${stacRoot(request)}/search`,
        body: { ...body, token },
        merge: false,
      }),
    });
  });
  scope.get<{ Params: { collection: string } }>("/collections/:collection/items", async (request, reply) => {
    const { collection } = request.params;
    const reader = await context.readerOf(request);
    if ((await findCollection(context.pool, reader, collection)) === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    const parsed = parseSearch(readQueryString(request, ITEM_PARAMETERS), false);
    if (parsed.search.collections?.includes(collection) === false) {
      throw badParameter("collections", `may name no other collection than that of the address, ${collection}`);
    }
    return sendPage(context, request, reply, {
      reader,
      search: { ...parsed, search: { ...parsed.search, collections: [collection] } },
      links: [
        { rel: "collection", type: JSON_TYPE, href: collectionUrl(stacRoot(request), collection) },
        { rel: "parent", type: JSON_TYPE, href: collectionUrl(stacRoot(request), collection) },
      ],
      toPage: (rel, token) => pageByGet(request, rel, token),
    });
  });
}

interface PageOptions {
  readonly reader?: Reader;
  readonly search: StacSearch;
  readonly links?: readonly Link[];
  readonly toPage: (rel: "next" | "prev", token: string) => Link;
}

async function sendPage(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { reader, search: { search, fields }, links = [], toPage }: PageOptions,
): Promise<FastifyReply> {
  const root = stacRoot(request);
  const result = await searchRecords(context, {
    ...search,
    reader: reader ?? (await context.readerOf(request)),
    kinds: ["i", "r"],
    countUpTo: context.countUpTo,
  });
  const text = renderItems({
    root,
    viewLinks: context.viewLinks,
    result,
    fields,
    links: [
      { rel: "self", type: GEOJSON_TYPE, href: selfOf(request) },
      { rel: "root", type: JSON_TYPE, href: root },
      ...links,
      ...linkPages(result, toPage),
    ],
  });
  return sendJson(reply, text, GEOJSON_TYPE);
}

/** Links to the pages before and after this one, where there are some. */
export const linkPages = (
  { next, prev }: Pick<SearchResult, "next" | "prev">,
  toLink: (rel: "next" | "prev", token: string) => Link,
): readonly Link[] => [
  ...(next === undefined ? [] : [toLink("next", toTokenText(next))]),
  ...(prev === undefined ? [] : [toLink("prev", toTokenText(prev))]),
];

/** The same request with another token. */
export function pageByGet(request: FastifyRequest, rel: "next" | "prev", token: string): Link {
  const url = new URL(selfOf(request));
  url.searchParams.set("token", token);
  return { rel, type: GEOJSON_TYPE, method: "GET", href: url.href };
}

/** @throws {Problem} for parameters that a route does not know */
export function refuseParameters(request: FastifyRequest, allowed: readonly string[] = []): void {
  for (const name of Object.keys(request.query as object)) {
    if (!allowed.includes(name)) {
      throw badParameter(name, "is not known here; this address takes no such parameter");
    }
  }
}
