import { sendOpenApi } from "@swath/service/send-openapi";
import type { FastifyInstance } from "fastify";

import { MAIN_COLLECTION } from "../access/reader.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import type { ViewLinks } from "../model/view-links.ts";
import type { StoredRecord } from "../model/record.ts";
import { JSON_TYPE, selfOf } from "../stac/links.ts";
import { sendJson } from "../stac/respond.ts";
import { refuseParameters } from "../stac/search.ts";
import { findRecord } from "../store/read-record.ts";
import { searchRecords } from "../store/search.ts";
import { OGC_CONFORMS_TO } from "./conformance.ts";
import { ogcCollectionLinks, ogcLandingLinks } from "./links.ts";

const MAX_COLLECTIONS = 10_000;

/** Landing page, conformance, collections (OGC API Common, Features Part 1, Records Part 1). */
export function addOgcReadRoutes(scope: FastifyInstance, context: CatalogueContext, openApi: () => object): void {
  scope.get("/", (request, reply) =>
    sendJson(
      reply,
      JSON.stringify({
        title: "Resource catalogue",
        description: "Scenes, results, applications and services of this platform.",
        links: ogcLandingLinks(baseOf(request)),
      }),
    ),
  );
  scope.get("/conformance", (_request, reply) => {
    return sendJson(reply, JSON.stringify({ conformsTo: OGC_CONFORMS_TO }));
  });
  scope.get("/openapi", { schema: { hide: true } }, (request, reply) => sendOpenApi(request, reply, openApi()));
  scope.get("/collections", async (request, reply) => {
    const { records } = await searchRecords(context, {
      reader: await context.readerOf(request),
      kinds: ["c"],
      limit: MAX_COLLECTIONS,
      sort: [{ property: "id", direction: "asc" }],
      countUpTo: 0,
    });
    const base = baseOf(request);
    // The one with everything first: it is what clients look for.
    const main = records.filter(({ id }) => id === MAIN_COLLECTION);
    const others = records.filter(({ id }) => id !== MAIN_COLLECTION);
    return sendJson(
      reply,
      JSON.stringify({
        links: [{ rel: "self", type: JSON_TYPE, href: selfOf(request) }],
        collections: [...main, ...others].map((record) => renderCatalogue(base, record, context.viewLinks)),
      }),
    );
  });
  scope.get<{ Params: { collection: string } }>("/collections/:collection", async (request, reply) => {
    refuseParameters(request, ["f"]);
    const { collection } = request.params;
    const reader = await context.readerOf(request);
    const record = await findRecord(context, { reader, id: collection, collection, isCollection: true });
    if (record === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    return sendJson(reply, JSON.stringify(renderCatalogue(baseOf(request), record, context.viewLinks)));
  });
}

/** A collection as a catalogue of records. */
function renderCatalogue(base: string, record: StoredRecord, viewLinks: ViewLinks): object {
  const { title, description, keywords, license, extent, providers } = JSON.parse(record.text) as Record<
    string,
    unknown
  >;
  return {
    id: record.id,
    type: "Collection",
    itemType: "record",
    title: record.id === MAIN_COLLECTION ? "All records" : (title ?? record.id),
    description,
    ...(keywords !== undefined && { keywords }),
    ...(license !== undefined && { license }),
    ...(providers !== undefined && { providers }),
    extent,
    crs: ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"],
    recordsArrayName: "features",
    defaultSortOrder: ["-datetime"],
    created: record.madeAt.toISOString(),
    updated: record.changedAt.toISOString(),
    links: [...ogcCollectionLinks(base, record.id), ...viewLinks(record)],
  };
}
