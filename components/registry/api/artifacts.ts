import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { Action } from "../access/actions.ts";
import { findDigest } from "../protocol/digest.ts";
import { isTag } from "../protocol/names.ts";
import { addAudit } from "../store/audit.ts";
import { type Artifact, browseArtifacts, findArtifact } from "../store/browse.ts";
import { deleteManifest, deleteTag } from "../store/delete-manifest.ts";
import { listReferrers } from "../store/manifests.ts";
import { lockProject } from "../store/projects.ts";
import { setTag } from "../store/put-manifest.ts";
import { type ApiContext, type RepositoryAccess, readPage, requireRepository, setPageHeaders } from "./context.ts";

const NewTag = Type.Object({ name: Type.String({ maxLength: 128 }) });
export const ARTIFACTS = "/projects/:project/repositories/:repository/artifacts";
export const ARTIFACT = `${ARTIFACTS}/:reference`;
const MAX_ACCESSORIES = 100;

/** The artifact that a path names. @throws {Problem} as `requireRepository`, and 404 */
export async function requireArtifact(
  context: ApiContext,
  request: FastifyRequest,
  action: Action,
): Promise<RepositoryAccess & { readonly artifact: Artifact }> {
  const access = await requireRepository(context, request, action);
  const { reference } = request.params as { reference: string };
  const isReference = findDigest(reference) !== undefined || isTag(reference);
  const artifact = isReference ? await findArtifact(context.database, access.repositoryId, reference) : undefined;
  if (artifact === undefined) {
    throw new Problem(404, `The artifact ${access.repository}@${reference.slice(0, 140)} does not exist.`);
  }
  return { ...access, artifact };
}

/** Artifacts: manifests with their tags and what refers to them. */
export function addArtifactRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;

  const deletionOf = ({ project, repository, principal }: RepositoryAccess) => ({
    project: project.name,
    repository,
    actor: principal.name,
  });

  app.get(ARTIFACTS, async (request, reply) => {
    const access = await requireRepository(context, request, "pull");
    const page = readPage(request);
    const { artifacts, total } = await browseArtifacts(database, access.repositoryId, page);
    setPageHeaders(request, reply, page, total);
    return artifacts.map((artifact) => toArtifactJson(access, artifact));
  });

  app.get(ARTIFACT, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "pull");
    return toArtifactJson(access, artifact);
  });

  app.delete(ARTIFACT, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "delete");
    await database.transact((tx) => deleteManifest(tx, deletionOf(access), artifact.digest));
    return {};
  });

  app.get(`${ARTIFACT}/tags`, async (request) => {
    return (await requireArtifact(context, request, "pull")).artifact.tags.map(toTagJson);
  });

  app.post(`${ARTIFACT}/tags`, { schema: { body: NewTag } }, async (request, reply) => {
    const { artifact, ...access } = await requireArtifact(context, request, "push");
    const { name } = request.body as Static<typeof NewTag>;
    if (!isTag(name)) {
      throw new Problem(
        400,
        "The tag is invalid; it must be up to 128 letters, digits and _ . -, and not begin with . or -.",
      );
    }
    const { digest } = artifact;
    await database.transact(async (tx) => {
      const project = await lockProject(tx, access.project.name);
      await setTag(tx, { project, repositoryId: access.repositoryId, repository: access.repository }, name, digest);
      await addAudit(tx, {
        actor: access.principal.name,
        operation: "create",
        project: project.name,
        resourceType: "tag",
        resource: `${access.repository}:${name}`,
      });
    });
    return reply.code(201).header("location", `${request.url}/${name}`).send();
  });

  app.delete(`${ARTIFACT}/tags/:tag`, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "delete");
    const { tag } = request.params as { tag: string };
    if (!artifact.tags.some(({ name }) => name === tag)) {
      throw new Problem(404, `The artifact has no tag ${tag.slice(0, 128)}.`);
    }
    await database.transact((tx) => deleteTag(tx, deletionOf(access), tag));
    return {};
  });

  // Signatures, SBOMs and whatever else names the artifact as its subject.
  app.get(`${ARTIFACT}/accessories`, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "pull");
    const { digest } = artifact;
    const referrers = await listReferrers(database, access.repository, {
      subject: digest,
      artifactType: undefined,
      last: "",
      n: MAX_ACCESSORIES,
    });
    return referrers.map((referrer) => ({
      digest: referrer.digest,
      size: referrer.size,
      type: toAccessoryType(referrer.artifactType ?? ""),
      artifact_type: referrer.artifactType,
      annotations: referrer.annotations,
      subject_artifact_digest: digest,
      subject_artifact_repo: access.repository,
    }));
  });
}

function toAccessoryType(type: string): string {
  return type.includes("cosign")
    ? "signature.cosign"
    : type.includes("notary")
      ? "signature.notation"
      : /spdx|cyclonedx/.test(type)
        ? "sbom"
        : "subject.accessory";
}

function toArtifactJson({ project, repositoryId, repository }: RepositoryAccess, artifact: Artifact) {
  return {
    digest: artifact.digest,
    size: artifact.size,
    manifest_media_type: artifact.mediaType,
    media_type: artifact.artifactType ?? artifact.mediaType,
    artifact_type: artifact.artifactType ?? artifact.mediaType,
    type: toType(artifact),
    project_id: Number(project.id),
    repository_id: Number(repositoryId),
    repository_name: repository,
    push_time: artifact.pushedAt.toISOString(),
    pull_time: artifact.pulledAt?.toISOString() ?? null,
    pushed_by: artifact.pushedBy,
    tags: artifact.tags.map(toTagJson),
    references: artifact.children.map((digest) => ({ parent_digest: artifact.digest, child_digest: digest })),
    annotations: artifact.annotations,
    labels: artifact.labels,
    subject: artifact.subject,
  };
}

function toType({ artifactType, children }: Artifact): string {
  if (children.length > 0 || artifactType === null || /\.image\.|container\.image/.test(artifactType)) {
    return "IMAGE";
  }
  return artifactType.includes("helm") ? "CHART" : artifactType.includes("cwl") ? "CWL" : "UNKNOWN";
}

const toTagJson = ({ name, pushedAt, pulledAt }: Artifact["tags"][number]) => ({
  name,
  push_time: pushedAt,
  pull_time: pulledAt,
});
