import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { AUDIT_PAGE, type AuditSearch } from "../admin/audit-search.ts";
import type { ListUsers } from "../admin/list-users.ts";
import type { PlatformStatus } from "../admin/platform-status.ts";
import type { RequireAdmin } from "../admin/require-admin.ts";
import type { HealthHistory } from "../services/health-history.ts";
import type { SessionGuard } from "./context.ts";

interface AdminDeps {
  readonly sessionGuard: SessionGuard;
  readonly requireAdmin: RequireAdmin;
  /** Left out where the deployment does not say where to ask. */
  readonly status: PlatformStatus | undefined;
  readonly listUsers: ListUsers;
  /** Left out where the deployment has no database. */
  readonly audit: AuditSearch | undefined;
  readonly healthHistory: HealthHistory;
  /** JSON list of the settings, secrets masked. */
  readonly configuration: string;
}

const Name = Type.String({ pattern: "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$" });

const AuditQuerySchema = Type.Object({
  actor: Type.Optional(Type.String({ maxLength: 255 })),
  text: Type.Optional(Type.String({ maxLength: 255 })),
  service: Type.Optional(Type.String({ maxLength: 63 })),
  before: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** What administrators may look at: pods, their logs, the configuration. Nothing can be changed here. */
export function addAdminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { sessionGuard, requireAdmin, status, listUsers, audit, healthHistory, configuration } = deps;
  const enter = async (request: FastifyRequest, reply: FastifyReply) => {
    const session = await sessionGuard.enter(request, reply);
    await requireAdmin(session, request.ip);
    void reply.header("cache-control", "no-store");
    return session;
  };
  const platform = () => {
    if (status === undefined) {
      throw new Problem(404, "This deployment does not tell the portal about its pods.");
    }
    return status;
  };
  const settings: unknown = JSON.parse(configuration);

  app.get("/api/admin/pods", async (request, reply) => {
    await enter(request, reply);
    return { pods: await platform().listPods() };
  });

  app.get<{ Params: { namespace: string; pod: string }; Querystring: { lines?: number } }>(
    "/api/admin/pods/:namespace/:pod/log",
    {
      schema: {
        params: Type.Object({ namespace: Name, pod: Name }),
        querystring: Type.Object({ lines: Type.Optional(Type.Integer({ minimum: 1, maximum: 5000 })) }),
      },
    },
    async (request, reply) => {
      await enter(request, reply);
      const { namespace, pod } = request.params;
      const text = await platform().readLog(namespace, pod, request.query.lines ?? 200);
      if (text === undefined) {
        throw new Problem(404, `There is no pod ${pod} any more.`);
      }
      return reply.type("text/plain; charset=utf-8").send(text);
    },
  );

  app.get("/api/admin/users", async (request, reply) => ({
    users: await listUsers(await enter(request, reply), request.ip),
  }));

  app.get<{ Querystring: Static<typeof AuditQuerySchema> }>(
    "/api/admin/audit",
    { schema: { querystring: AuditQuerySchema } },
    async (request, reply) => {
      await enter(request, reply);
      if (audit === undefined) {
        throw new Problem(404, "This deployment keeps no audit trail.");
      }
      const entries = await audit.find(request.query);
      const last = entries.length === AUDIT_PAGE ? entries.at(-1) : undefined;
      return { entries, ...(last !== undefined && { next: last.n }) };
    },
  );

  app.get("/api/admin/health", async (request, reply) => {
    await enter(request, reply);
    return { services: healthHistory.read() };
  });

  app.get("/api/admin/configuration", async (request, reply) => {
    await enter(request, reply);
    return { settings };
  });
}
