import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { listVisibleProjects } from "../access/principal.ts";
import { isProjectName } from "../protocol/names.ts";
import { addAudit } from "../store/audit.ts";
import {
  type Project,
  createProject,
  deleteEmptyProject,
  findProject,
  listProjects,
  updateProject,
} from "../store/projects.ts";
import { findRetention } from "../store/retention.ts";
import { findUpstream } from "../store/upstreams.ts";
import { deleteEmptyRepositories } from "../store/repositories.ts";
import { type ApiContext, findPrincipal, readPage, requireAdmin, requireProject, setPageHeaders } from "./context.ts";
import { Metadata, toChange, toMetadata } from "./project-metadata.ts";
import { toRoleId } from "./roles.ts";

const NewProject = Type.Object({
  project_name: Type.String(),
  public: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  metadata: Type.Optional(Metadata),
  /** Bytes; -1: no limit. */
  storage_limit: Type.Optional(Type.Union([Type.Integer({ minimum: -1 }), Type.Null()])),
  /** The registry that it is to be a cache of. */
  registry_id: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
});
const ProjectChange = Type.Object({
  public: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  metadata: Type.Optional(Metadata),
});

/** Projects: `/projects`. */
export function addProjectRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;

  app.get("/projects", { exposeHeadRoute: false }, async (request, reply) => {
    const principal = await findPrincipal(context, request);
    const { name, public: isPublic } = request.query as { name?: string; public?: string };
    const page = readPage(request);
    const { projects, total } = await listProjects(database, {
      visible: await listVisibleProjects(database, principal),
      name,
      isPublic: isPublic === undefined ? undefined : isPublic === "true" || isPublic === "1",
      ...page,
    });
    setPageHeaders(request, reply, page, total);
    return projects.map((project) => toProjectJson(project, project.repositories));
  });

  app.head("/projects", async (request, reply) => {
    const { project_name: name = "" } = request.query as { project_name?: string };
    const principal = await findPrincipal(context, request);
    const project = isProjectName(name) ? await findProject(database, name) : undefined;
    const visible = await listVisibleProjects(database, principal);
    const isVisible = project !== undefined && (project.isPublic || (visible?.includes(project.id) ?? true));
    return reply.code(isVisible ? 200 : 404).send();
  });

  app.post("/projects", { schema: { body: NewProject } }, async (request, reply) => {
    const principal = await requireAdmin(context, request);
    const {
      project_name: name,
      metadata,
      storage_limit: limit,
      registry_id: registry,
      ...body
    } = request.body as Static<typeof NewProject>;
    if (!isProjectName(name)) {
      throw new Problem(
        400,
        "The name of a project must be lower-case letters and digits with single . _ - between them.",
      );
    }
    const upstreamId = registry ? String(registry) : undefined;
    if (upstreamId !== undefined && (await findUpstream(database, upstreamId)) === undefined) {
      throw new Problem(400, `The registry ${upstreamId} does not exist.`);
    }
    const id = await database.transact(async (tx) => {
      const made = await createProject(tx, {
        name,
        owner: principal.name,
        isPublic: body.public ?? metadata?.public === "true",
        quotaBytes: limit === undefined || limit === null || limit < 0 ? null : limit,
        upstreamId,
      });
      if (made !== undefined) {
        const { isPublic: _, ...settings } = toChange(metadata ?? {});
        await updateProject(tx, made, settings);
        await addAudit(tx, {
          actor: principal.name,
          operation: "create",
          project: name,
          resourceType: "project",
          resource: name,
        });
      }
      return made;
    });
    if (id === undefined) {
      throw new Problem(409, `The project ${name} already exists.`);
    }
    return reply.code(201).header("location", `/api/v2.0/projects/${id}`).send();
  });

  app.get("/projects/:project", async (request) => {
    const { project, principal, rights } = await requireProject(context, request, "pull");
    const [count] = await database.query<{ n: string }>("select count(*) as n from repository where project_id = $1", [
      project.id,
    ]);
    return {
      ...toProjectJson(project, Number(count?.n), (await findRetention(database, project.id)) !== undefined),
      ...(principal.kind !== "anonymous" && { current_user_role_ids: toRoleId(rights) }),
    };
  });

  // Whether it can be deleted, for clients that ask before they try.
  app.get("/projects/:project/_deletable", async (request) => {
    const { project } = await requireProject(context, request, "admin");
    const [used] = await database.query(
      "select from manifest m join repository r on r.id = m.repository_id where r.project_id = $1 limit 1",
      [project.id],
    );
    return used === undefined
      ? { deletable: true }
      : { deletable: false, message: `The project ${project.name} has repositories; delete them first.` };
  });

  app.get("/projects/:project/summary", async (request) => {
    const { project } = await requireProject(context, request, "pull");
    const [counts] = await database.query<{ repositories: string; role: string | null }>(
      "select count(*) as repositories from repository where project_id = $1",
      [project.id],
    );
    return {
      repo_count: Number(counts?.repositories),
      quota: { hard: { storage: project.quotaBytes ?? -1 }, used: { storage: project.usedBytes } },
    };
  });

  app.put("/projects/:project", { schema: { body: ProjectChange } }, async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const { metadata, ...body } = request.body as Static<typeof ProjectChange>;
    const isPublic = body.public ?? undefined;
    await database.transact(async (tx) => {
      await updateProject(tx, project.id, {
        ...toChange(metadata ?? {}),
        ...(isPublic !== undefined && { isPublic }),
      });
      await addAudit(tx, {
        actor: principal.name,
        operation: "update",
        project: project.name,
        resourceType: "project",
        resource: project.name,
      });
    });
    return {};
  });

  app.delete("/projects/:project", async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    await database.transact(async (tx) => {
      await tx.query("select from project where id = $1 for update", [project.id]);
      await deleteEmptyRepositories(tx, project.id);
      if (!(await deleteEmptyProject(tx, project.id))) {
        throw new Problem(412, `The project ${project.name} has repositories; delete them first.`);
      }
      await addAudit(tx, {
        actor: principal.name,
        operation: "delete",
        project: project.name,
        resourceType: "project",
        resource: project.name,
      });
    });
    return {};
  });
}

/** @param hasRetention a retention policy has the number of its project */
function toProjectJson(project: Project, repositories: number, hasRetention = false) {
  return {
    project_id: Number(project.id),
    name: project.name,
    owner_name: project.owner,
    ...(project.upstreamId !== undefined && { registry_id: Number(project.upstreamId) }),
    repo_count: repositories,
    metadata: {
      ...toMetadata(project),
      ...(hasRetention && { retention_id: project.id }),
    },
    quota: { hard: { storage: project.quotaBytes ?? -1 }, used: { storage: project.usedBytes } },
    creation_time: project.createdAt.toISOString(),
    update_time: project.updatedAt.toISOString(),
  };
}
