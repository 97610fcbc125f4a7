import type { FastifyInstance } from "fastify";

import { type CatalogueContext, baseOf } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import { findRecord, readSource } from "../store/read-record.ts";
import { searchRecords } from "../store/search.ts";
import { linkCollections } from "./browse.ts";
import { CONFORMS_TO } from "./conformance.ts";
import { type Fields, selectFields } from "./fields.ts";
import { JSON_TYPE, landingLinks, selfOf, stacRoot, toText } from "./links.ts";
import { linkContextOf, renderCollection, renderItem, sendJson, sendRecord } from "./respond.ts";
import { linkPages, pageByGet, refuseParameters } from "./search.ts";
import { MAX_LIMIT, parseSearch, readQueryString } from "./search-parameters.ts";

const COLLECTION_PARAMETERS = new Set([
  "bbox",
  "datetime",
  "limit",
  "token",
  "q",
  "filter",
  "filter-lang",
  "filter-crs",
  "sortby",
  "fields",
  "query",
]);

/** Landing page, conformance, collections and items (STAC API 1.0 core, collections, ogcapi-features; collection search). */
export function addReadRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.get("/", async (request, reply) => {
    const root = stacRoot(request);
    const children = await linkCollections(context, await context.readerOf(request), root);
    const landing = {
      type: "Catalog",
      stac_version: "1.1.0",
      id: "resource-catalogue",
      title: "Resource catalogue",
      description: `Scenes, results, applications and services of this platform. Other interfaces of the same records: OGC API at ${baseOf(request)}/.`,
      conformsTo: CONFORMS_TO,
      links: [...landingLinks(root), ...children],
    };
    return sendJson(reply, JSON.stringify(landing));
  });
  // Clients of STAC APIs that are a host of their own look for it there.
  scope.get("/docs", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
  scope.get("/conformance", (request, reply) => {
    refuseParameters(request);
    return sendJson(reply, JSON.stringify({ conformsTo: CONFORMS_TO }));
  });
  scope.get("/collections", async (request, reply) => {
    const root = stacRoot(request);
    const raw = readQueryString(request, COLLECTION_PARAMETERS);
    const { search, fields } = parseSearch({ limit: MAX_LIMIT, ...raw }, false);
    const result = await searchRecords(context, {
      sort: [{ property: "id", direction: "asc" }],
      ...search,
      reader: await context.readerOf(request),
      kinds: ["c"],
      countUpTo: context.countUpTo,
    });
    const links = [
      { rel: "self", type: JSON_TYPE, href: selfOf(request) },
      { rel: "root", type: JSON_TYPE, href: root },
      { rel: "parent", type: JSON_TYPE, href: root },
      {
        rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables",
        type: "application/schema+json",
        href: `${root}/collections-queryables`,
      },
      ...linkPages(result, (rel, token) => ({ ...pageByGet(request, rel, token), type: JSON_TYPE })),
    ];
    const collections = result.records.map((record) =>
      renderCollection({ root, viewLinks: context.viewLinks }, record),
    );
    const selected =
      fields === undefined ? collections : collections.map((text) => JSON.stringify(selectOf(text, fields)));
    return sendJson(
      reply,
      `{"collections":[${selected.join(",")}],"links":[${toText(links)}],"numberMatched":${result.matched?.count ?? 0},"numberReturned":${selected.length}}`,
    );
  });
  scope.get<{ Params: { collection: string } }>("/collections/:collection", async (request, reply) => {
    refuseParameters(request);
    const { collection } = request.params;
    const reader = await context.readerOf(request);
    const record = await findRecord(context, { reader, id: collection, collection, isCollection: true });
    if (record === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    return sendRecord(reply, record, renderCollection(linkContextOf(context, request), record));
  });
  scope.get<{ Params: { collection: string; id: string }; Querystring: { f?: string } }>(
    "/collections/:collection/items/:id",
    async (request, reply) => {
      const { collection, id } = request.params;
      const reader = await context.readerOf(request);
      const record = await findRecord(context, { reader, id, collection, isCollection: false });
      if (record === undefined) {
        throw notFound(`Item ${JSON.stringify(id)} of collection ${JSON.stringify(collection)}`);
      }
      if (request.query.f === "source") {
        const { bytes, type } = await readSource(context.pool, record);
        return reply.type(type).send(bytes);
      }
      if (request.headers["if-none-match"] === `"${record.n}-${record.version}"`) {
        return reply.code(304).send();
      }
      return sendRecord(reply, record, renderItem(linkContextOf(context, request), record));
    },
  );
}

const selectOf = (text: string, fields: Fields): unknown =>
  selectFields(JSON.parse(text) as Readonly<Record<string, unknown>>, fields);
