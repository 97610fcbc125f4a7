import type { FastifyInstance } from "fastify";

import { listVisibleProjects } from "../access/principal.ts";
import { browseRepositories, readTotals } from "../store/browse.ts";
import { listProjects } from "../store/projects.ts";
import { type ApiContext, findPrincipal, requireLogin } from "./context.ts";
import { toRepositoryJson } from "./repositories.ts";

const MAX_FOUND = 50;

/** What is said of the whole registry. */
export function addSystemRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database, access } = context;

  app.get("/ping", (_request, reply) => reply.type("text/plain").send("Pong"));

  app.get("/health", async () => {
    const state = await database.check().then(
      () => ({ status: "healthy" }),
      () => ({ status: "unhealthy" }),
    );
    return {
      status: state.status,
      components: [
        { name: "core", status: "healthy" },
        { name: "database", ...state },
      ],
    };
  });

  app.get("/systeminfo", () => ({
    registry_url: new URL(access.publicUrl).host,
    external_url: access.publicUrl,
    auth_mode: access.verifier === undefined ? "db_auth" : "oidc_auth",
    project_creation_restriction: "adminonly",
    self_registration: false,
    has_ca_root: false,
    read_only: false,
    notification_enable: false,
  }));

  app.get("/statistics", async (request) => {
    await requireLogin(context, request);
    const totals = await readTotals(database);
    return {
      total_project_count: totals.projects,
      public_project_count: totals.publicProjects,
      private_project_count: totals.projects - totals.publicProjects,
      total_repo_count: totals.repositories,
      public_repo_count: totals.publicRepositories,
      private_repo_count: totals.repositories - totals.publicRepositories,
      total_storage_consumption: totals.bytes,
    };
  });

  app.get("/search", async (request) => {
    const { q: text = "" } = request.query as { q?: string };
    const visible = await listVisibleProjects(database, await findPrincipal(context, request));
    const page = { offset: 0, limit: MAX_FOUND };
    const [{ projects }, { repositories }] = [
      await listProjects(database, { visible, name: text, ...page }),
      await browseRepositories(database, { visible, text, ...page }),
    ];
    return {
      project: projects.map(({ id, name, isPublic, repositories: count }) => ({
        project_id: Number(id),
        name,
        metadata: { public: String(isPublic) },
        repo_count: count,
      })),
      repository: repositories.map((repository) => {
        const { name, project_id, artifact_count, pull_count } = toRepositoryJson(repository);
        return { repository_name: name, project_id, artifact_count, pull_count };
      }),
    };
  });
}
