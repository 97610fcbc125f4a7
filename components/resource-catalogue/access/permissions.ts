import type { FastifyInstance } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import { findCollection } from "../store/collections.ts";
import { mayWrite } from "./reader.ts";

/**
 * `/permissions`: what the caller may do, so that pages offer what will be allowed. With `collection`: whose it is, who sees it, and whether
 * the caller may change it.
 */
export function addPermissionRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.get("/permissions", async (request, reply) => {
    const reader = await context.readerOf(request);
    const { collection: id } = readSingle(request);
    const entry = id === undefined ? undefined : await findCollection(context.pool, reader, id);
    if (id !== undefined && entry === undefined) {
      throw notFound(`Collection ${JSON.stringify(id)}`);
    }
    const workspaces = [...reader.workspaces]
      .filter(([name]) => reader.only === undefined || reader.only === name)
      .map(([name, role]) => ({ name, role }));
    return reply.header("cache-control", "no-store").send({
      isOperator: reader.isOperator,
      workspaces,
      ...(entry && {
        collection: {
          id: entry.id,
          workspace: entry.workspace,
          visibility: entry.isPublic ? "public" : "workspace",
          mayWrite: mayWrite(reader, entry),
        },
      }),
    });
  });
}
