import type { FastifyInstance } from "fastify";

import { catalogueAddressFor } from "../catalogue/hosts.ts";

/** What eoAPI has below one prefix each; the rest of `/stac` are TiTiler's own addresses. */
const OF_CATALOGUE = [
  "/stac",
  ...["collections", "search", "conformance", "queryables", "aggregate", "aggregations", "api", "api.html", "docs"].map(
    (part) => `/stac/${part}`,
  ),
  "/stac/collections/*",
  "/vector",
  "/vector/*",
];

/**
 * The layout of eoAPI, for clients that know one host alone: `/stac` and `/vector` (OGC API Features) lead to the catalogue with 307, which
 * keeps method and body.
 */
export function addEoapiPaths(app: FastifyInstance, catalogueUrl: string | undefined): void {
  if (catalogueUrl === undefined) {
    return;
  }
  for (const url of OF_CATALOGUE) {
    app.route({
      method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      url,
      schema: { hide: true } as object,
      // Before the body is read, of whatever type it is.
      onRequest: async (request, reply) => {
        const path = request.url.replace(/^\/vector\/?/, "/");
        return reply.redirect(catalogueAddressFor(request.hostname, catalogueUrl, path), 307);
      },
      handler: () => undefined,
    });
  }
}

/** TiTiler's addresses are below `/raster` as well, as in eoAPI; `/vector/healthz` says that this service is alive. */
export function rewriteEoapiUrl(url: string): string {
  if (url === "/vector/healthz") {
    return "/healthz";
  }
  const rest = /^\/raster(?=[/?]|$)(.*)$/s.exec(url)?.[1];
  return rest === undefined ? url : rest.startsWith("/") ? rest : `/${rest}`;
}
