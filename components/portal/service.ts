import { type Logger, Problem, type Settings } from "@swath/service";
import { originsOf, parseBaseMaps } from "@swath/service/base-maps";
import type { CallerLimits } from "@swath/service/caller-limits";
import { createApp } from "@swath/service/fastify";
import { addWebFiles } from "@swath/service/web";
import type { FastifyInstance } from "fastify";

import type { AuditSearch } from "./admin/audit-search.ts";
import type { ListUsers } from "./admin/list-users.ts";
import type { PlatformStatus } from "./admin/platform-status.ts";
import type { RequireAdmin } from "./admin/require-admin.ts";
import type { settings as definitions } from "./config.ts";
import type { WorkspaceStorage } from "./files/workspace-storage.ts";
import { addAdminRoutes } from "./routes/admin.ts";
import { type AuthDeps, addAuthRoutes } from "./routes/auth.ts";
import { addConfigRoute } from "./routes/config.ts";
import { createSessionGuard } from "./routes/context.ts";
import { addFileRoutes } from "./routes/files.ts";
import { addServiceRoutes } from "./routes/services.ts";
import { addSessionRoutes } from "./routes/session.ts";
import type { HealthHistory } from "./services/health-history.ts";
import type { HealthChecker } from "./services/health.ts";
import type { Registry } from "./services/registry.ts";
import type { SessionFinder } from "./session/session.ts";

interface PortalDeps {
  readonly logger: Logger;
  readonly settings: Settings<typeof definitions>;
  /** Left out where the deployment has no identity service. */
  readonly auth?: AuthDeps;
  readonly sessions?: SessionFinder;
  readonly registry: Registry;
  readonly health: HealthChecker;
  readonly storage: WorkspaceStorage | undefined;
  readonly limits: CallerLimits;
  readonly requireAdmin: RequireAdmin;
  readonly listUsers: ListUsers;
  readonly audit: AuditSearch | undefined;
  readonly healthHistory: HealthHistory;
  readonly status: PlatformStatus | undefined;
  /** Folder of the built pages. */
  readonly webRoot: string;
}

/** The portal's server: login, what pages ask, and the pages. */
export async function createPortal(deps: PortalDeps): Promise<FastifyInstance> {
  const {
    logger,
    settings,
    auth,
    sessions,
    registry,
    health,
    storage,
    limits,
    requireAdmin,
    listUsers,
    audit,
    healthHistory,
    status,
    webRoot,
  } = deps;
  // Keys of files may be long, and a folder of them longer still.
  const app = createApp(logger, { keepsSlashes: true, routerOptions: { maxParamLength: 4096 } });
  app.addHook("onSend", async (_request, reply) => {
    void reply.header("x-content-type-options", "nosniff");
    if (settings.PUBLIC_URL.startsWith("https:")) {
      void reply.header("strict-transport-security", "max-age=31536000");
    }
  });
  const sessionGuard = createSessionGuard(sessions, settings.PUBLIC_URL, auth?.forget);
  addConfigRoute(app, settings, { hasIdentity: auth !== undefined, hasFiles: storage !== undefined, registry });
  addSessionRoutes(app, sessionGuard, { isSelfService: settings.WORKSPACE_CREATION === "self-service" });
  addServiceRoutes(app, { sessionGuard, registry, health });
  addFileRoutes(app, { sessionGuard, storage, limits });
  addAdminRoutes(app, {
    sessionGuard,
    requireAdmin,
    status,
    listUsers,
    audit,
    healthHistory,
    configuration: settings.PLATFORM_CONFIGURATION,
  });
  if (auth === undefined) {
    app.get("/auth/*", () => {
      throw new Problem(503, "This deployment has no identity service, so nobody can log in.");
    });
  } else {
    addAuthRoutes(app, auth);
  }
  await addWebFiles(app, {
    directory: webRoot,
    programs: ["/api/", "/auth/"],
    images: originsOf(parseBaseMaps(settings.BASE_MAPS)),
  });
  return app;
}
