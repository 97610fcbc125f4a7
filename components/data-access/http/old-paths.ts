import type { FastifyInstance } from "fastify";

import { catalogueHostFor } from "../catalogue/hosts.ts";

/** Earlier versions of the platform searched here; the catalogue does. */
export function addOldPaths(app: FastifyInstance, catalogueUrl: string | undefined): void {
  if (catalogueUrl === undefined) {
    return;
  }
  const { protocol, host } = new URL(catalogueUrl);
  for (const path of ["/opensearch", "/opensearch/*"]) {
    app.get(path, { schema: { hide: true } as object }, (request, reply) =>
      reply.redirect(`${protocol}//${catalogueHostFor(request.hostname, host)}${request.url}`, 307),
    );
  }
}
