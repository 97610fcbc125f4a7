import type { Logger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";

import type { DataAccessContext } from "./http/context.ts";
import { toHttpError } from "./http/errors.ts";
import { addOgcRoutes } from "./ogc/routes.ts";
import { addOwsRoutes } from "./ows/routes.ts";
import { addCogRoutes } from "./tiler/cog-routes.ts";

const MAX_PATH_PART_CHARACTERS = 2000;

/** The whole HTTP surface. Listens on nothing. */
export async function createDataAccessService(logger: Logger, context: DataAccessContext): Promise<FastifyInstance> {
  const app = createApp(logger, {
    routerOptions: { maxParamLength: MAX_PATH_PART_CHARACTERS, ignoreTrailingSlash: true },
  });
  await addOpenApi(app, {
    title: "Data access",
    version: "1.0.0",
    description: "The pixels behind the catalogue: tiles, maps, values and files.",
    tags: [
      { name: "ogc", description: "OGC API Tiles and Maps over the layers" },
      { name: "ows", description: "WMS and WMTS" },
      { name: "cog", description: "Any file by its address" },
    ],
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    void reply.header("access-control-allow-origin", "*");
    done();
  });
  // The application's own handler answers; it is told what errors of rasters mean.
  const answerError = app.errorHandler;
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => answerError(toHttpError(error) as never, request, reply));
    scope.register(async (cog) => addCogRoutes(cog, context), { prefix: "/cog" });
    addOwsRoutes(scope, context);
    addOgcRoutes(scope, context);
  });
  return app;
}
