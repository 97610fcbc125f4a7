import formbody from "@fastify/formbody";
import { createApp, parseForm } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import { addApi } from "./api/api.ts";
import { addMonitoringRoutes } from "./api/monitoring.ts";
import { addClientPackages } from "./client-packages/routes.ts";
import type { HubContext } from "./context.ts";
import { addInternalRoutes } from "./internal/routes.ts";
import { addAdminPages } from "./pages/admin.ts";
import { addEnterPages } from "./pages/enter.ts";
import { addUserRedirect } from "./pages/user-redirect.ts";
import { addErrorPages } from "./pages/errors.ts";
import { addHomePages } from "./pages/home.ts";
import { addLoginPages } from "./pages/login.ts";
import { addPageFiles } from "./pages/files.ts";
import { addShareLinkPages } from "./pages/share-links.ts";
import { addSpawnPages } from "./pages/spawn.ts";

/** The hub: pages for people, JupyterHub's API for programs. */
export async function createHub(context: HubContext): Promise<FastifyInstance> {
  const app = createApp(context.logger);
  await app.register(formbody, { bodyLimit: 2_000_000, parser: parseForm });
  await app.register(async (scope) => addApi(scope, context), { prefix: "/hub/api" });
  await app.register(async (scope) => addMonitoringRoutes(scope, context), { prefix: "/hub" });
  await app.register(async (scope) => addInternalRoutes(scope, context), { prefix: "/internal" });
  await app.register(addClientPackages);
  await app.register(async (scope) => {
    addErrorPages(scope);
    addPageFiles(scope);
    addLoginPages(scope, context);
    addHomePages(scope, context);
    addSpawnPages(scope, context);
    addEnterPages(scope, context);
    addUserRedirect(scope, context);
    addShareLinkPages(scope, context);
    addAdminPages(scope, context);
  });
  return app;
}
