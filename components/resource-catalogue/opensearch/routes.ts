import type { FastifyInstance } from "fastify";

import { XML_DECLARATION } from "../csw/versions.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { badParameter, handleError, notFound } from "../http/errors.ts";
import { summarize } from "../mapping/summary.ts";
import { findRecord } from "../store/read-record.ts";
import { DESCRIPTION_TYPE, renderDescription } from "./description.ts";
import { readParameters } from "./parameters.ts";
import { respondToDescribe, respondToSearch } from "./respond.ts";

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
      ? respondToSearch(context, request, reply, parameters)
      : respondToDescribe(request, reply);
  });
  scope.get("/opensearch/search", { schema: { hide: true } }, (request, reply) =>
    respondToSearch(context, request, reply, readParameters(request.query as Query)),
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
      const { title, abstract } = summarize(record, context.viewLinks);
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
      return respondToSearch(context, request, reply, parameters.set("parentIdentifier", collection), collection);
    },
  );
}

/** Clients of the known system search by `request=GetRecords` in the query string. */
const isSearch = (query: Query): boolean =>
  Object.entries(query).some(
    ([name, value]) =>
      (name.toLowerCase() === "request" && value === "GetRecords") || /^(?:f|httpaccept|format)$/i.test(name),
  );
