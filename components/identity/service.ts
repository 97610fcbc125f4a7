import formBody from "@fastify/formbody";
import { STYLE } from "@swath/pages";
import { AWAY, type Logger, isAway } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import { addAdminRoutes } from "./admin/routes.ts";
import { addConsoleRoutes } from "./console/routes.ts";
import type { IdentityContext } from "./context.ts";
import { addAccountRoutes } from "./pages/account-routes.ts";
import { renderErrorPage } from "./pages/error-page.ts";
import { addInteractionRoutes } from "./pages/interaction-routes.ts";
import { STYLE_PATH } from "./pages/layout.ts";
import { SECURITY_HEADERS } from "./oidc/provider.ts";
import { addPolicyRoutes } from "./policy/routes.ts";
import { OAuthError } from "./protocol/oauth-error.ts";
import { addProtocolRoutes } from "./protocol/routes.ts";
import { addProtectionRoutes } from "./uma/protection-routes.ts";

/** The whole HTTP face of the service. */
export async function createIdentityService(logger: Logger, context: IdentityContext): Promise<FastifyInstance> {
  const app = createApp(logger);
  await app.register(formBody);
  addProtocolRoutes(app, context);
  addProtectionRoutes(app, context);
  addPolicyRoutes(app, context);
  addAdminRoutes(app, context);
  await app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) => {
      const known = error instanceof OAuthError ? error : undefined;
      if (known === undefined) {
        request.log.error({ err: error }, "request failed");
      }
      return reply
        .code(known?.status ?? (isAway(error) ? 503 : 500))
        .headers(SECURITY_HEADERS)
        .type("text/html; charset=utf-8")
        .send(
          renderErrorPage({
            title: "Something went wrong",
            message: known?.message ?? (isAway(error) ? AWAY : "The service failed to handle this request."),
            requestId: request.id,
          }),
        );
    });
    addInteractionRoutes(pages, context);
    addAccountRoutes(pages, context);
  });
  await app.register(async (console) => addConsoleRoutes(console, context));
  app.get(STYLE_PATH, { schema: { hide: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(STYLE),
  );
  return app;
}
