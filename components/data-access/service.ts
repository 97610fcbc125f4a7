import { join } from "node:path";

import type { Logger } from "@swath/service";
import { originsOf } from "@swath/service/base-maps";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import { addWebFiles } from "@swath/service/web";
import type { FastifyInstance } from "fastify";

import { addCoverageRoutes } from "./coverages/routes.ts";
import { addItemRoutes } from "./edr/items.ts";
import { EDR_OPERATIONS } from "./edr/operations.ts";
import { addEdrRoutes } from "./edr/routes.ts";
import { addProfileRoute } from "./edr/profile.ts";
import { addTimeSeriesRoute } from "./edr/time-series.ts";
import type { DataAccessContext } from "./http/context.ts";
import { addEoapiPaths, rewriteEoapiUrl } from "./http/eoapi-paths.ts";
import { addOldPaths } from "./http/old-paths.ts";
import { toHttpError } from "./http/errors.ts";
import { respondFirst } from "./http/response-cache.ts";
import { addDaysRoute } from "./ogc/days.ts";
import { addOgcRoutes } from "./ogc/routes.ts";
import { addOwsRoutes } from "./ows/routes.ts";
import { addStyleRoutes } from "./styles/routes.ts";
import { addCogRoutes } from "./tiler/cog-routes.ts";
import { addListRoutes } from "./tiler/list-routes.ts";
import { addTilerRoutes } from "./tiler/routes.ts";

const MAX_PATH_PART_CHARACTERS = 2000;
/** The viewer's pages; anything else that is not there is a 404. */
const PAGES = ["/", "/explore"];

/** The whole HTTP surface. Listens on nothing. */
export async function createDataAccessService(logger: Logger, context: DataAccessContext): Promise<FastifyInstance> {
  const app = createApp(logger, {
    routerOptions: { maxParamLength: MAX_PATH_PART_CHARACTERS, ignoreTrailingSlash: true },
    rewriteUrl: ({ url = "/" }) => rewriteEoapiUrl(url),
  });
  await addOpenApi(app, {
    title: "Data access",
    version: "1.0.0",
    description: "The pixels behind the catalogue: tiles, maps, values and files.",
    tags: [
      { name: "ogc", description: "OGC API Tiles and Maps over the layers" },
      { name: "ows", description: "WMS and WMTS" },
      { name: "cog", description: "Any file by its address" },
      { name: "stac", description: "An item by its address" },
      { name: "collections", description: "Collections and items by name, as mosaics" },
      { name: "searches", description: "Searches of the catalogue, as mosaics" },
      { name: "coverages", description: "OGC API Coverages: values of areas" },
      { name: "edr", description: "OGC API EDR: values over time, of areas and along lines" },
      { name: "styles", description: "How layers are shown" },
    ],
    operations: EDR_OPERATIONS,
  });
  // Where clients of OGC API look for the document, whatever the landing page says.
  app.get("/api", { schema: { hide: true } as object }, (_request, reply) => reply.redirect("/openapi.json"));
  app.addHook("onSend", (_request, reply, _payload, done) => {
    void reply.header("access-control-allow-origin", "*");
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    context.responses.keep(request, reply);
    done();
  });
  respondFirst(app.server, context.responses.response);
  // The application's own handler answers; it is told what errors of rasters mean.
  const respondError = app.errorHandler;
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => respondError(toHttpError(error) as never, request, reply));
    scope.register(async (cog) => addCogRoutes(cog, context), { prefix: "/cog" });
    addListRoutes(scope);
    addOwsRoutes(scope, context);
    addOldPaths(scope, context.catalogueUrl);
    addEoapiPaths(scope, context.catalogueUrl);
    addTilerRoutes(scope, context);
    addStyleRoutes(scope, context);
    addCoverageRoutes(scope, context);
    addEdrRoutes(scope, context);
    addItemRoutes(scope, context);
    addTimeSeriesRoute(scope, context);
    addProfileRoute(scope, context);
    addDaysRoute(scope, context);
    addOgcRoutes(scope, context);
  });
  // What the viewer offers below its layers.
  app.get("/explore/base-maps.json", { schema: { hide: true } as object }, (_request, reply) =>
    reply.header("cache-control", "no-cache").send(context.baseMaps),
  );
  await addWebFiles(app, {
    directory: join(import.meta.dirname, "web/dist"),
    pages: PAGES,
    images: originsOf(context.baseMaps),
  });
  return app;
}
