import type { Logger, Peer } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";

import { createAdminClient } from "./admin-client.ts";
import { sendError } from "./errors.ts";
import { addClientRoutes } from "./routes/clients.ts";
import type { ApiContext } from "./routes/context.ts";
import { addPolicyRoutes } from "./routes/policies.ts";
import { addResourceRoutes } from "./routes/resources.ts";

/** The identity API: calls of the admin REST API put together. */
export async function createIdentityApi(logger: Logger, peer: Peer, realm: string): Promise<FastifyInstance> {
  // Existing clients end addresses with a slash.
  const app = createApp(logger, { routerOptions: { ignoreTrailingSlash: true } });
  await addOpenApi(app, {
    title: "Identity API",
    version: "1.0.0",
    description: "Clients with the resources they protect, in one call. Needs a token of an administrator.",
  });
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
  for (const path of ["/health/liveness", "/health/readiness"]) {
    app.get(path, { schema: { hide: true } }, () => ({ status: "OK" }));
  }
  await app.register(async (scope) => {
    scope.setErrorHandler(sendError);
    const context: ApiContext = { adminOf: (request) => createAdminClient(peer, realm, request) };
    addClientRoutes(scope, context);
    addResourceRoutes(scope, context);
    addPolicyRoutes(scope, context);
  });
  return app;
}
