import type { FastifyInstance } from "fastify";

import { type AuditRecord, listAudit } from "../store/audit.ts";
import { type ApiContext, readPage, requireAdmin, requireProject, setPageHeaders } from "./context.ts";

/** Who changed what. */
export function addAuditRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  app.get("/audit-logs", async (request, reply) => {
    await requireAdmin(context, request);
    const page = readPage(request);
    const { records, total } = await listAudit(database, { project: undefined, ...page });
    setPageHeaders(request, reply, page, total);
    return records.map(toAuditJson);
  });
  app.get("/projects/:project/logs", async (request, reply) => {
    const { project } = await requireProject(context, request, "maintain");
    const page = readPage(request);
    const { records, total } = await listAudit(database, { project: project.name, ...page });
    setPageHeaders(request, reply, page, total);
    return records.map(toAuditJson);
  });
}

const toAuditJson = ({ id, at, actor, operation, resourceType, resource }: AuditRecord) => ({
  id,
  username: actor,
  operation,
  resource_type: resourceType,
  resource,
  op_time: at.toISOString(),
});
