import type { FastifyInstance, FastifyRequest } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import type { RecordKind } from "../model/record.ts";
import { findCollection } from "../store/collections.ts";
import { readQueryables } from "../store/queryables.ts";
import { SCHEMA_TYPE, selfOf } from "./links.ts";
import { sendJson } from "./respond.ts";
import { refuseParameters } from "./search.ts";

/** The draft of JSON Schema that an interface's clients know. */
interface QueryablesOptions {
  readonly draft: string;
  readonly kinds: readonly RecordKind[];
}

const UNSORTABLE = new Set(["geometry"]);

/** `/queryables` and `/sortables`, of all collections and of each. */
export function addQueryableRoutes(
  scope: FastifyInstance,
  context: CatalogueContext,
  { draft, kinds }: QueryablesOptions,
): void {
  const response = async (
    request: FastifyRequest,
    what: "queryables" | "sortables",
    { collection, of = kinds }: { readonly collection?: string; readonly of?: readonly RecordKind[] } = {},
  ) => {
    refuseParameters(request);
    const reader = await context.readerOf(request);
    const entry = collection === undefined ? undefined : await findCollection(context.pool, reader, collection);
    if (collection !== undefined && entry === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    const isMain = collection?.startsWith("metadata:") ?? false;
    const found = {
      ...(await readQueryables(context, {
        reader,
        kinds: of,
        ...(collection !== undefined && !isMain && { collections: [collection] }),
      })),
      ...entry?.queryables,
    };
    const properties =
      what === "queryables"
        ? found
        : Object.fromEntries(Object.entries(found).filter(([name]) => !UNSORTABLE.has(name)));
    return JSON.stringify({
      $schema: draft,
      $id: selfOf(request),
      type: "object",
      title: `${what === "queryables" ? "Queryables" : "Sortables"} of ${collection ?? "the catalogue"}`,
      properties,
      additionalProperties: true,
    });
  };
  for (const what of ["queryables", "sortables"] as const) {
    scope.get(`/${what}`, async (request, reply) => sendJson(reply, await response(request, what), SCHEMA_TYPE));
    scope.get<{ Params: { collection: string } }>(`/collections/:collection/${what}`, async (request, reply) =>
      sendJson(reply, await response(request, what, { collection: request.params.collection }), SCHEMA_TYPE),
    );
  }
  // Of the collections themselves (STAC collection search, filter).
  scope.get("/collections-queryables", async (request, reply) =>
    sendJson(reply, await response(request, "queryables", { of: ["c"] }), SCHEMA_TYPE),
  );
}
