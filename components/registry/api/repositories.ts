import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { listVisibleProjects } from "../access/principal.ts";
import { addAudit } from "../store/audit.ts";
import { type RepositorySummary, browseRepositories } from "../store/browse.ts";
import { checkAllImmutable } from "../store/immutable.ts";
import { deleteRepository } from "../store/repositories.ts";
import { tellWebhooks } from "../store/webhooks.ts";
import {
  type ApiContext,
  findPrincipal,
  readPage,
  requireProject,
  requireRepository,
  setPageHeaders,
} from "./context.ts";

const Change = Type.Object({ description: Type.String({ maxLength: 65_536 }) });
const REPOSITORY = "/projects/:project/repositories/:repository";

/** Repositories. */
export function addRepositoryRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;

  app.get("/repositories", async (request, reply) => {
    const principal = await findPrincipal(context, request);
    const page = readPage(request);
    const visible = await listVisibleProjects(database, principal);
    const { repositories, total } = await browseRepositories(database, {
      visible,
      text: textOf(request.query),
      ...page,
    });
    setPageHeaders(request, reply, page, total);
    return repositories.map(toRepositoryJson);
  });

  app.get("/projects/:project/repositories", async (request, reply) => {
    const { project } = await requireProject(context, request, "pull");
    const page = readPage(request);
    const { repositories, total } = await browseRepositories(database, {
      projectId: project.id,
      text: textOf(request.query),
      ...page,
    });
    setPageHeaders(request, reply, page, total);
    return repositories.map(toRepositoryJson);
  });

  app.get(REPOSITORY, async (request) => {
    const { repository, repositoryId, project } = await requireRepository(context, request, "pull");
    const [row] = await database.query<{
      description: string;
      pull_count: string;
      created_at: Date;
      updated_at: Date;
      n: string;
    }>(
      `select r.*, (select count(*) from manifest m where m.repository_id = r.id) as n from repository r where id = $1`,
      [repositoryId],
    );
    return {
      id: Number(repositoryId),
      project_id: Number(project.id),
      name: repository,
      description: row?.description,
      artifact_count: Number(row?.n),
      pull_count: Number(row?.pull_count),
      creation_time: row?.created_at,
      update_time: row?.updated_at,
    };
  });

  app.put(REPOSITORY, { schema: { body: Change } }, async (request) => {
    const { repositoryId, repository, project, principal } = await requireRepository(context, request, "push");
    const { description } = request.body as Static<typeof Change>;
    await database.transact(async (tx) => {
      await tx.query("update repository set description = $2, updated_at = now() where id = $1", [
        repositoryId,
        description,
      ]);
      await addAudit(tx, {
        actor: principal.name,
        operation: "update",
        project: project.name,
        resourceType: "repository",
        resource: repository,
      });
    });
    return {};
  });

  app.delete(REPOSITORY, async (request) => {
    const { repository, repositoryId, project, principal } = await requireRepository(context, request, "delete");
    await database.transact(async (tx) => {
      await tx.query("select from project where id = $1 for update", [project.id]);
      await checkAllImmutable(tx, project, { repository, repositoryId });
      const tags = await tx.query<{ tag: string; digest: string }>(
        "select name as tag, digest from tag where repository_id = $1 order by name limit 1000",
        [repositoryId],
      );
      await deleteRepository(tx, repositoryId);
      await tellWebhooks(tx, {
        projectId: project.id,
        project: project.name,
        event: "DELETE_ARTIFACT",
        operator: principal.name,
        repository,
        resources: tags,
      });
      await addAudit(tx, {
        actor: principal.name,
        operation: "delete",
        project: project.name,
        resourceType: "repository",
        resource: repository,
      });
    });
    return {};
  });
}

/** `q=name=~abc`, as the API writes a search for a part of the name. */
function textOf(query: unknown): string | undefined {
  const { q } = query as { q?: string };
  return /(?:^|,)name=~?([^,]+)/.exec(q ?? "")?.[1];
}

export function toRepositoryJson(repository: RepositorySummary) {
  return {
    id: repository.id,
    project_id: repository.projectId,
    name: repository.name,
    description: repository.description,
    artifact_count: repository.artifacts,
    pull_count: repository.pullCount,
    creation_time: repository.createdAt.toISOString(),
    update_time: repository.updatedAt.toISOString(),
  };
}
