import type { FastifyInstance } from "fastify";

import { catalogueAddressFor } from "../catalogue/hosts.ts";

/** Earlier versions of the platform searched here; the catalogue does. */
export function addOldPaths(app: FastifyInstance, catalogueUrl: string | undefined): void {
  if (catalogueUrl === undefined) {
    return;
  }
  for (const path of ["/opensearch", "/opensearch/*"]) {
    app.get(path, { schema: { hide: true } as object }, (request, reply) =>
      reply.redirect(catalogueAddressFor(request.hostname, catalogueUrl, request.url), 307),
    );
  }
}
