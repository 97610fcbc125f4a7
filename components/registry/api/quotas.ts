import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { addAudit } from "../store/audit.ts";
import { type Project, findProjectById, listProjects, updateProject } from "../store/projects.ts";
import { type ApiContext, readPage, requireAdmin, requireLogin, setPageHeaders } from "./context.ts";
import { findRights } from "../access/principal.ts";

/** Bytes; -1: no limit. */
const Change = Type.Object({ hard: Type.Object({ storage: Type.Integer({ minimum: -1 }) }) });

/** Quotas, which have the numbers of their projects. What is used is what is there, at any moment. */
export function addQuotaRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const find = async (request: FastifyRequest): Promise<Project> => {
    const { quota } = request.params as { quota: string };
    const project = /^\d{1,18}$/.test(quota) ? await findProjectById(database, quota) : undefined;
    if (project === undefined) {
      throw new Problem(404, "The quota does not exist.");
    }
    return project;
  };

  app.get("/quotas", async (request, reply) => {
    await requireAdmin(context, request);
    const page = readPage(request);
    const { projects, total } = await listProjects(database, { visible: undefined, ...page });
    setPageHeaders(request, reply, page, total);
    return projects.map(toQuotaJson);
  });

  app.get("/quotas/:quota", async (request) => {
    const principal = await requireLogin(context, request);
    const project = await find(request);
    if (!(await findRights(database, principal, project)).has("pull")) {
      throw new Problem(404, "The quota does not exist.");
    }
    return toQuotaJson(project);
  });

  app.put("/quotas/:quota", { schema: { body: Change } }, async (request) => {
    const principal = await requireAdmin(context, request);
    const project = await find(request);
    const { storage } = (request.body as Static<typeof Change>).hard;
    await database.transact(async (tx) => {
      await updateProject(tx, project.id, { quotaBytes: storage < 0 ? null : storage });
      await addAudit(tx, {
        actor: principal.name,
        operation: "update",
        project: project.name,
        resourceType: "quota",
        resource: storage < 0 ? "no limit" : `${storage} bytes`,
      });
    });
    return {};
  });
}

function toQuotaJson(project: Project) {
  return {
    id: Number(project.id),
    ref: { id: Number(project.id), name: project.name, owner_name: project.owner },
    hard: { storage: project.quotaBytes ?? -1 },
    used: { storage: project.usedBytes },
    creation_time: project.createdAt.toISOString(),
    update_time: project.updatedAt.toISOString(),
  };
}
