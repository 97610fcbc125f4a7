import type { Logger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import { sendOpenApi } from "@swath/service/send-openapi";
import type { FastifyInstance } from "fastify";

import { addPermissionRoutes } from "./access/permissions.ts";
import { OPERATIONS } from "./api/operations.ts";
import { addAssetRoutes } from "./assets/routes.ts";
import { addBulkRoutes } from "./bulk/routes.ts";
import { addCswRoutes } from "./csw/routes.ts";
import { addPageFiles, addPages } from "./html/routes.ts";
import type { CatalogueContext } from "./http/context.ts";
import { addFeedKeyRoutes } from "./feed/keys.ts";
import { addFeedRoutes } from "./feed/routes.ts";
import { addSubscriptionRoutes } from "./feed/subscriptions.ts";
import { handleError } from "./http/errors.ts";
import { addJsonBodies } from "./http/json-body.ts";
import { addXmlBodies } from "./http/xml-body.ts";
import { addOgcReadRoutes } from "./ogc/read.ts";
import { addRecordRoutes, findInScope } from "./ogc/records.ts";
import { addOgcTransactionRoutes } from "./ogc/transactions.ts";
import { addOpenSearchRoutes } from "./opensearch/routes.ts";
import { findRecord } from "./store/read-record.ts";
import { addAggregationRoutes } from "./stac/aggregate.ts";
import { addBrowseRoutes } from "./stac/browse.ts";
import { addDeclarationRoutes } from "./stac/declare-queryables.ts";
import { addQueryableRoutes } from "./stac/queryables.ts";
import { addReadRoutes } from "./stac/read.ts";
import { addSearchRoutes } from "./stac/search.ts";
import { addTransactionRoutes } from "./stac/transactions.ts";

const DESCRIPTION = `Everything that the platform has: scenes, results, application packages and services.

The same records are at \`/stac\` (STAC API 1.0) and at \`/\` (OGC API Records and Features).`;

/** The whole HTTP surface. Listens on nothing. */
export async function createCatalogueService(logger: Logger, context: CatalogueContext): Promise<FastifyInstance> {
  const app = createApp(logger, { routerOptions: { maxParamLength: 4000, ignoreTrailingSlash: true } });
  await addOpenApi(app, {
    title: "Resource catalogue",
    version: "1.0.0",
    description: DESCRIPTION,
    tags: [
      { name: "stac", description: "STAC API" },
      { name: "records", description: "OGC API Features and Records" },
      { name: "changes", description: "What changed, and what the caller may do" },
    ],
    operations: OPERATIONS,
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    void reply
      .header("access-control-allow-origin", "*")
      // Of the response itself: browsers do not look for it in that of a preflight.
      .header("access-control-expose-headers", "ETag, Location");
    done();
  });
  // Pages of other hosts may ask; where a gatekeeper is in front, it answers this itself.
  app.options("*", { schema: { hide: true } }, (_request, reply) =>
    reply
      .code(204)
      .header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
      .header(
        "access-control-allow-headers",
        "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Feed-Key",
      )
      .header("access-control-max-age", "600")
      .header("allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
      .send(),
  );
  await app.register(
    async (scope) => {
      scope.setErrorHandler(handleError);
      addPages(scope);
      addJsonBodies(scope);
      scope.get("/api", { schema: { hide: true } }, (request, reply) => sendOpenApi(request, reply, app.swagger()));
      addReadRoutes(scope, context);
      addBrowseRoutes(scope, context);
      addSearchRoutes(scope, context);
      addTransactionRoutes(scope, context);
      addBulkRoutes(scope, context);
      addAssetRoutes(scope, context, (reader, collection, id) =>
        findRecord(context, { reader, id, collection, isCollection: false }),
      );
      addAggregationRoutes(scope, context);
      addQueryableRoutes(scope, context, { draft: "https://json-schema.org/draft/2019-09/schema", kinds: ["i", "r"] });
      addDeclarationRoutes(scope, context);
    },
    { prefix: "/stac" },
  );
  addPageFiles(app);
  await app.register((scope, _options, done) => {
    addCswRoutes(scope, context);
    done();
  });
  await app.register((scope, _options, done) => {
    addOpenSearchRoutes(scope, context);
    done();
  });
  await app.register(async (scope) => {
    scope.setErrorHandler(handleError);
    addPages(scope);
    addJsonBodies(scope);
    addXmlBodies(scope);
    addOgcReadRoutes(scope, context, () => app.swagger());
    addRecordRoutes(scope, context);
    addAssetRoutes(scope, context, (reader, collection, id) => findInScope(context, reader, collection, id));
    addOgcTransactionRoutes(scope, context);
    addPermissionRoutes(scope, context);
    addFeedRoutes(scope, context, context.announcer);
    addFeedKeyRoutes(scope, context);
    addSubscriptionRoutes(scope, context, context.wakeDeliveries);
    addQueryableRoutes(scope, context, {
      draft: "https://json-schema.org/draft/2020-12/schema",
      kinds: ["i", "r", "c"],
    });
  });
  return app;
}
