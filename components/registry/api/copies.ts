import { randomUUID } from "node:crypto";

import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { toSubject } from "../access/authenticate.ts";
import { type Principal, findRights } from "../access/principal.ts";
import { findDigest } from "../protocol/digest.ts";
import { isRepositoryName, isTag, projectOf } from "../protocol/names.ts";
import { findArtifact } from "../store/browse.ts";
import { copyArtifact } from "../store/copy-artifact.ts";
import { findProject, refuseCache } from "../store/projects.ts";
import { findRepository } from "../store/repositories.ts";
import { ARTIFACTS } from "./artifacts.ts";
import { type ApiContext, requireProject } from "./context.ts";

const Query = Type.Object({ from: Type.String({ maxLength: 600 }) });

/** Copies of artifacts within the registry, such as from a project of tests to one of releases. */
export function addCopyRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;

  app.post(ARTIFACTS, { schema: { querystring: Query } }, async (request, reply) => {
    const { project, principal } = await requireProject(context, request, "push");
    const { repository: encoded } = request.params as { repository: string };
    const target = `${project.name}/${encoded.replaceAll(/%2f/gi, "/")}`;
    if (!isRepositoryName(target)) {
      throw new Problem(400, `"${target.slice(0, 300)}" is not the name of a repository.`);
    }
    await refuseCache(database, target);
    const { source, reference, artifact } = await findSource(principal, (request.query as Static<typeof Query>).from);
    await database.transact((tx) =>
      copyArtifact(tx, {
        source,
        digest: artifact.digest,
        target,
        tags: isTag(reference) ? [reference] : [],
        actor: principal.name,
        holder: { token: `copy ${randomUUID()}`, subject: toSubject(principal) },
      }),
    );
    return reply
      .code(201)
      .header("location", `${request.url.split("?", 1)[0]}/${artifact.digest}`)
      .send();
  });

  /** What `from` names, where the caller may pull it. @throws {Problem} 400; 404 also for what is somebody else's */
  async function findSource(principal: Principal, from: string) {
    const [, source = "", reference = ""] = /^([^:@]+)[:@](.+)$/.exec(from) ?? [];
    if (!isRepositoryName(source) || (findDigest(reference) === undefined && !isTag(reference))) {
      throw new Problem(400, "from must be <project>/<repository>:<tag> or <project>/<repository>@<digest>.");
    }
    const project = await findProject(database, projectOf(source));
    const mayPull = project !== undefined && (await findRights(database, principal, project)).has("pull");
    const repository = mayPull ? await findRepository(database, source) : undefined;
    const artifact = repository && (await findArtifact(database, repository.id, reference));
    if (artifact === undefined) {
      throw new Problem(404, `The artifact ${from.slice(0, 300)} does not exist.`);
    }
    return { source, reference, artifact };
  }
}
