import formBody from "@fastify/formbody";
import { STYLE } from "@swath/pages";
import type { Logger } from "@swath/service";
import { createApp, parseForm } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import { addAdminRoutes } from "./admin/routes.ts";
import { addConsoleRoutes } from "./console/routes.ts";
import type { IdentityContext } from "./context.ts";
import { createPathMap } from "./variant-b/paths.ts";
import { addLoginFace } from "./variant-b/routes.ts";
import { addDeviceRoutes } from "./pages/device-routes.ts";
import { addAccountRoutes } from "./pages/account-routes.ts";
import { addInteractionRoutes } from "./pages/interaction-routes.ts";
import { STYLE_PATH } from "./pages/layout.ts";
import { PASSKEY_SCRIPT, PASSKEY_SCRIPT_PATH } from "./pages/passkey-form.ts";
import { sendErrorPage } from "./pages/send-error-page.ts";
import { addPolicyRoutes } from "./policy/routes.ts";
import { addProtocolRoutes } from "./protocol/routes.ts";
import { addOwnerPolicyRoutes } from "./uma/owner-policy-routes.ts";
import { addProtectionRoutes } from "./uma/protection-routes.ts";

/** The whole HTTP face of the service. */
export async function createIdentityService(logger: Logger, context: IdentityContext): Promise<FastifyInstance> {
  // Existing clients end addresses with a slash.
  const rewrite = context.login && createPathMap(context.login);
  const app = createApp(logger, {
    routerOptions: { ignoreTrailingSlash: true },
    ...(rewrite && { rewriteUrl: ({ url }) => rewrite(url ?? "/") }),
  });
  await app.register(formBody, { parser: parseForm });
  await addAllRoutes(app, context);
  return app;
}

/** Every address of the service. */
export async function addAllRoutes(app: FastifyInstance, context: IdentityContext): Promise<void> {
  addProtocolRoutes(app, context);
  addProtectionRoutes(app, context);
  addOwnerPolicyRoutes(app, context);
  addPolicyRoutes(app, context);
  addAdminRoutes(app, context);
  await app.register(async (pages) => {
    pages.setErrorHandler(sendErrorPage);
    addInteractionRoutes(pages, context);
    addAccountRoutes(pages, context);
    addDeviceRoutes(pages, context);
  });
  if (context.login !== undefined) {
    const { login } = context;
    await app.register(async (face) => addLoginFace(face, context, login));
  }
  await app.register(async (console) => addConsoleRoutes(console, context));
  app.get(PASSKEY_SCRIPT_PATH, { schema: { hide: true } }, (_request, reply) =>
    reply
      .type("text/javascript; charset=utf-8")
      .headers({ "cache-control": "public, max-age=300", "x-content-type-options": "nosniff" })
      .send(PASSKEY_SCRIPT),
  );
  app.get(STYLE_PATH, { schema: { hide: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(STYLE),
  );
}
