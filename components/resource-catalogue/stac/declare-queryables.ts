import type { FastifyInstance } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { invalidDocument } from "../http/errors.ts";
import { requireObject } from "../http/json-body.ts";
import { FilterError } from "../query/expression.ts";
import { shortName } from "../query/properties.ts";
import type { QueryableSchema } from "../query/queryables.ts";
import { setQueryables } from "../store/collections.ts";
import { enterForWriting } from "./transactions.ts";

const MAX_QUERYABLES = 100;
const MAX_BYTES = 256 * 1024;

/** `PUT` and `DELETE` of a collection's queryables: what it declares is listed, and filters on it are made fast. */
export function addDeclarationRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const { pool } = context;
  const path = "/collections/:collection/queryables";
  scope.put<{ Params: { collection: string } }>(path, { bodyLimit: MAX_BYTES }, async (request, reply) => {
    const { entry } = await enterForWriting(context, request, request.params.collection);
    await setQueryables(pool, entry.key, readDeclaration(requireObject(request.body).value));
    context.wakeIndexes();
    return reply.code(204).send();
  });
  scope.delete<{ Params: { collection: string } }>(path, async (request, reply) => {
    const { entry } = await enterForWriting(context, request, request.params.collection);
    await setQueryables(pool, entry.key, null);
    context.wakeIndexes();
    return reply.code(204).send();
  });
}

/** The properties of a JSON Schema. @throws {Problem} 400 with what is wrong with it */
function readDeclaration({ properties }: Readonly<Record<string, unknown>>): Readonly<Record<string, QueryableSchema>> {
  const what = "The declaration of queryables";
  if (!isObject(properties) || Object.keys(properties).length > MAX_QUERYABLES) {
    const rule = `must be an object with at most ${MAX_QUERYABLES} properties, each a JSON Schema`;
    throw invalidDocument(what, [{ path: "/properties", rule, value: undefined }]);
  }
  for (const [name, schema] of Object.entries(properties)) {
    const path = `/properties/${name.slice(0, 200)}`;
    if (!isObject(schema)) {
      throw invalidDocument(what, [{ path, rule: "must be an object: a JSON Schema", value: undefined }]);
    }
    try {
      shortName(name);
    } catch (error) {
      if (error instanceof FilterError) {
        throw invalidDocument(what, [{ path, rule: `is no name: ${error.message}`, value: undefined }]);
      }
      throw error;
    }
  }
  return properties as Readonly<Record<string, QueryableSchema>>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
